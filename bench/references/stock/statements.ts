import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Option, Schema } from "effect"
import type { Caller } from "../caller.ts"
import { newId } from "../ids.ts"
import { Client, type NewClient, Project } from "./models.ts"

const principalFields = { issuer: Schema.String, subject: Schema.String }

/** Reads a project of any tenant of the caller. */
export const findProject = (request: { readonly issuer: string; readonly subject: string; readonly id: string }) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    SqlSchema.findOne({
      Request: Schema.Struct({ ...principalFields, id: Schema.String }),
      Result: Project,
      execute: ({ id, issuer, subject }) => sql`
        select this.id, this.contract_id as contract, this.name, this.description, this."order"::float8 as "order",
          this.created_at as "createdAt", this.updated_at as "updatedAt"
        from projects this
        join tenants t on t.id = this.tenant_id and t.deleted_at is null
        join members m on m.tenant_id = this.tenant_id and m.issuer = ${issuer} and m.subject = ${subject}
        where this.id = ${id}`
    })(request)
  )

/** The role of the caller in a tenant; empty for others than its members. */
export const findRole = (request: { readonly issuer: string; readonly subject: string; readonly tenant: string }) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const find = SqlSchema.findOne({
      Request: Schema.Struct({ ...principalFields, tenant: Schema.String }),
      Result: Schema.Struct({ role: Schema.String }),
      execute: ({ issuer, subject, tenant }) => sql`
        select m.role from members m join tenants t on t.id = m.tenant_id and t.deleted_at is null
        where m.tenant_id = ${tenant} and m.issuer = ${issuer} and m.subject = ${subject}`
    })
    return Option.match(yield* find(request), { onNone: () => "", onSome: ({ role }) => role })
  })

/** Inserts a client and its event in one statement. */
export const insertClient = ({ subject, tenant }: Caller, { description, name, order }: NewClient) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const at = new Date()
    const client = Client.make({
      id: newId("clnt"),
      name,
      description: Option.fromNullable(description),
      order: Option.fromNullable(order),
      media: [],
      createdAt: at,
      updatedAt: at
    })
    const data = JSON.stringify(yield* Schema.encode(Client.json)(client))
    yield* sql`
      with changed as (
        insert into clients (tenant_id, id, name, description, "order", media, created_at, updated_at, sequence)
        values (${tenant}, ${client.id}, ${name}, ${description ?? null}, ${order ?? null}, '[]', ${at}, ${at}, 1)
        returning 1
      )
      insert into events (tenant_id, id, type, resource_id, client_id, sequence, occurred_at, created_by,
        trace_parent, data)
      select ${tenant}, ${newId("evt")}, 'client.created', ${client.id}, ${client.id}, 1, ${at}::timestamptz,
        ${subject}::text, null, ${data}::json from changed`
    return client
  })

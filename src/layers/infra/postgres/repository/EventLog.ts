import type * as SqlClient from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import { Context, Effect } from "effect"
import { CurrentTenant, subjectIn } from "../../../../domain/tenancy/RequestContext.ts"
import type { TenantId } from "../../../../domain/tenancy/Tenant.ts"
import { traceParentIn } from "../../telemetry/TraceContext.ts"
import { makeId } from "../IdGenerator.ts"

/** What caused an event: the subject of the caller, and the trace of its request. */
export interface EventOrigin {
  readonly createdBy: string | undefined
  readonly traceParent: string | undefined
}

const originIn = (context: Context.Context<never>): EventOrigin => ({
  createdBy: subjectIn(context),
  traceParent: traceParentIn(context)
})

export const currentOrigin: Effect.Effect<EventOrigin> = Effect.withFiberRuntime(({ currentContext }) =>
  Effect.succeed(originIn(currentContext))
)

/** The tenant of a write and the origin of its events. Read at once, because every write needs both. */
export const currentWrite: Effect.Effect<
  { readonly tenant: TenantId; readonly origin: EventOrigin },
  never,
  CurrentTenant
> = Effect.withFiberRuntime(({ currentContext }) =>
  Effect.succeed({
    tenant: Context.unsafeGet(currentContext, CurrentTenant), // required by the type of the effect
    origin: originIn(currentContext)
  })
)

/** The origin of events that a worker causes. */
export const workerOrigin: EventOrigin = { createdBy: undefined, traceParent: undefined }

export interface EventRecord<Client = string | undefined, Sequence = number> extends EventOrigin {
  readonly tenant: string
  /** `<resource>.<action>` */
  readonly type: string
  readonly resource: string
  readonly client: Client
  readonly sequence: Sequence
  readonly at: string
  readonly data: unknown
}

const columns = "tenant_id, id, type, resource_id, client_id, sequence, occurred_at, created_by, trace_parent, data"

/**
 * The insert of an event, for a CTE of the statement that makes the change. It inserts nothing when `source`, the changed
 * rows of that statement, is empty.
 */
export const insertEvent =
  (sql: SqlClient.SqlClient, source: Fragment) =>
  ({
    at,
    client,
    createdBy,
    data,
    resource,
    sequence,
    tenant,
    traceParent,
    type
  }: EventRecord<string | Fragment | undefined, number | Fragment>) =>
    sql`
      insert into events (${sql.literal(columns)})
      select ${tenant}, ${makeId("evt")}, ${type}, ${resource}, ${client ?? null}, ${sequence}::integer,
        ${at}::timestamptz, ${createdBy ?? null}::text, ${traceParent ?? null}::text,
        ${JSON.stringify(data)}::json
      from ${source}`

/** The insert of several events of any type, in the given order. */
export const insertEvents = (sql: SqlClient.SqlClient) => (events: ReadonlyArray<EventRecord>) => {
  const rows = events.map(({ at, client, createdBy, data, resource, sequence, tenant, traceParent, type }) => ({
    tenant_id: tenant,
    id: makeId("evt"),
    type,
    resource_id: resource,
    client_id: client,
    sequence,
    occurred_at: at,
    created_by: createdBy,
    trace_parent: traceParent,
    data
  }))
  return sql`
    insert into events (${sql.literal(columns)}) select ${sql.literal(columns)}
    from json_populate_recordset(null::events, ${JSON.stringify(rows)}::json)`
}

/** One of several events with the same type and time. `data` is encoded JSON. */
export type EventItem = Pick<EventRecord, "resource" | "sequence"> & { readonly data: string }

/** The insert of several events with the same type and time. */
export const insertEventsOfType =
  (sql: SqlClient.SqlClient) =>
  (
    { at, client, createdBy, tenant, traceParent, type }: Omit<EventRecord, "resource" | "sequence" | "data">,
    items: ReadonlyArray<EventItem>
  ) => {
    const common = JSON.stringify({
      tenant_id: tenant,
      type,
      client_id: client,
      occurred_at: at,
      created_by: createdBy,
      trace_parent: traceParent
    }).slice(1)
    const rows = items.map(
      ({ data, resource, sequence }) =>
        `{"id":"${makeId("evt")}","resource_id":"${resource}","sequence":${sequence},"data":${data},${common}`
    )
    return sql`
      insert into events (${sql.literal(columns)}) select ${sql.literal(columns)}
      from json_populate_recordset(null::events, ${`[${rows.join(",")}]`}::json)`
  }

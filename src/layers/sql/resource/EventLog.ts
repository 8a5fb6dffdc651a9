import type * as SqlClient from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import { Effect } from "effect"
import { newId } from "../../Ids.ts"

export interface Happening<Client = string | undefined> {
  readonly tenant: string
  /** `<resource>.<action>` */
  readonly type: string
  readonly resource: string
  readonly client: Client
  readonly sequence: number
  readonly at: string
  readonly data: unknown
}

const columns = "tenant_id, id, type, resource_id, client_id, sequence, occurred_at, data"

/**
 * The insert that records an event, to be a part of the statement that makes it happen. It records nothing when
 * `source`, the rows that statement changed, is empty.
 */
export const recording =
  (sql: SqlClient.SqlClient, source: Fragment) => (happening: Happening<string | Fragment | undefined>) =>
    Effect.map(newId("evt"), (id) => {
      const { at, client, data, resource, sequence, tenant, type } = happening
      return sql`
        insert into events (${sql.literal(columns)})
        select ${tenant}, ${id}, ${type}, ${resource}, ${client ?? null}, ${sequence}::integer, ${at}::timestamptz,
          ${JSON.stringify(data)}::json
        from ${source}`
    })

/** The insert that records many events at once. */
export const recordingAll = (sql: SqlClient.SqlClient) => (happenings: ReadonlyArray<Happening>) =>
  Effect.map(
    Effect.forEach(happenings, ({ at, client, data, resource, sequence, tenant, type }) =>
      Effect.map(newId("evt"), (id) => ({
        tenant_id: tenant,
        id,
        type,
        resource_id: resource,
        client_id: client,
        sequence,
        occurred_at: at,
        data
      }))
    ),
    (rows) => sql`
        insert into events (${sql.literal(columns)}) select ${sql.literal(columns)}
        from json_populate_recordset(null::events, ${JSON.stringify(rows)}::json)`
  )

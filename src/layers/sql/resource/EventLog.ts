import type * as SqlClient from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import { Effect } from "effect"
import { newId } from "../../Ids.ts"

export interface Happening {
  readonly tenant: string
  /** `<resource>.<action>` */
  readonly type: string
  readonly resource: string
  readonly client: string | Fragment | undefined
  readonly sequence: number
  readonly at: string
  readonly data: unknown
}

/**
 * The insert that records an event, to be a part of the statement that makes it happen. It records nothing when
 * `source`, the rows that statement changed, is empty.
 */
export const recording = (sql: SqlClient.SqlClient, source: Fragment) => (happening: Happening) =>
  Effect.map(newId("evt"), (id) => {
    const { at, client, data, resource, sequence, tenant, type } = happening
    return sql`
        insert into events (tenant_id, id, type, resource_id, client_id, sequence, occurred_at, data)
        select ${tenant}, ${id}, ${type}, ${resource}, ${client ?? null}, ${sequence}::integer, ${at}::timestamptz,
          ${JSON.stringify(data)}::json
        from ${source}`
  })

import type * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { EncodedJson } from "../../../domain/EncodedJson.ts"
import { prefixOf } from "../../../domain/Ids.ts"
import { CurrentTenant } from "../../../domain/tenancy/RequestContext.ts"
import { makeId } from "../IdGenerator.ts"
import { makeResourceEncoder, makeRowMapper, type TableShape } from "./Columns.ts"
import { insertEventsOfType } from "./EventLog.ts"
import type { GeneratedFields, IdentifiedFields, ResourceSpec, Versioned } from "./ResourceSpec.ts"

/** Bulk writes: one statement for many resources of a table and their events. */
export const makeBulkWriter = <A extends GeneratedFields, F extends IdentifiedFields>(
  sql: SqlClient.SqlClient,
  spec: ResourceSpec<A, F>,
  shape: TableShape
) => {
  const table = sql.literal(spec.table)
  const encode = makeResourceEncoder(shape)
  const prefix = prefixOf(spec.entity.fields.id)
  const recordAll = insertEventsOfType(sql)
  const columns = sql.literal(
    ["tenant_id", ...Object.keys(makeRowMapper(shape)({})), "sequence"].map((column) => `"${column}"`).join(", ")
  )

  const eventType = (action: string) => `${spec.name}.${action}`

  return {
    /**
     * The CTEs that insert resources as part of another write. They insert in the order of the `sortColumns`, so that
     * concurrent inserts of the same unique keys do not deadlock. Each resource is encoded once for its row, its event and
     * the response.
     */
    buildBulkInsert: Effect.fnUntraced(function* (
      all: ReadonlyArray<Omit<A, keyof GeneratedFields>>,
      client: string | undefined,
      sortColumns: string
    ) {
      const tenant = yield* CurrentTenant
      const at = new Date().toISOString()
      const common = `"tenant_id":${JSON.stringify(tenant)},"sequence":1`
      const made = all.map((fields) => {
        const id = makeId(prefix)
        const { rowJson, json } = encode({ id, createdAt: at, updatedAt: at }, fields, common)
        return { id, row: rowJson, shown: json }
      })
      const items = made.map(({ id, shown }) => ({ resource: id, sequence: 1, data: shown }))
      const rows = `[${made.map(({ row }) => row).join(",")}]`
      const events = recordAll({ tenant, client, at, type: eventType("created") }, items)
      const ctes = sql`
        made as (
          insert into ${table} (${columns})
          select ${columns} from json_populate_recordset(null::${table}, ${rows}::json)
          order by ${sql.literal(sortColumns)}
        ), told as (${events})`
      return { ctes, values: new EncodedJson<ReadonlyArray<A>>(`[${made.map(({ shown }) => shown).join(",")}]`) }
    }),

    /** The CTEs that delete locked resources as part of another write. */
    buildBulkDelete: Effect.fnUntraced(function* (all: ReadonlyArray<Versioned<A>>, client: string | undefined) {
      const tenant = yield* CurrentTenant
      const items = all.map(({ sequence, value }) => ({
        resource: value.id,
        sequence: sequence + 1,
        data: JSON.stringify(value)
      }))
      const at = new Date().toISOString()
      const events = recordAll({ tenant, client, at, type: eventType("deleted") }, items)
      const ids = JSON.stringify(all.map(({ value }) => value.id))
      return sql`
        gone as (
          delete from ${table} where tenant_id = ${tenant} and id in (select json_array_elements_text(${ids}::json))
        ), told as (${events})`
    })
  }
}

import type * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { prefixOf } from "../../../domain/Ids.ts"
import { JsonText } from "../../../domain/JsonText.ts"
import { CurrentTenant } from "../../../domain/tenancy/Caller.ts"
import { makeId } from "../Ids.ts"
import { rowMaker, type Shape, textsMaker } from "./Columns.ts"
import { recordingAll } from "./EventLog.ts"
import type { Identified, Spec, Stamped, Versioned } from "./ResourceSpec.ts"

/** How many resources of a table are written at once: one statement for all of them and their events. */
export const makeBulk = <A extends Stamped, F extends Identified>(
  sql: SqlClient.SqlClient,
  spec: Spec<A, F>,
  shape: Shape
) => {
  const table = sql.literal(spec.table)
  const textsOf = textsMaker(shape)
  const prefix = prefixOf(spec.entity.fields.id)
  const recordAll = recordingAll(sql)
  const columns = sql.literal(
    ["tenant_id", ...Object.keys(rowMaker(shape)({})), "sequence"].map((column) => `"${column}"`).join(", ")
  )

  const typed = (action: string) => `${spec.name}.${action}`

  return {
    /**
     * What creates them all as a part of another change, in the order of `sorted` columns, so that those who create the
     * same never wait in a circle. Each is put into JSON once, for its row, its event and the answer.
     */
    creatingMany: Effect.fnUntraced(function* (
      all: ReadonlyArray<Omit<A, keyof Stamped>>,
      client: string | undefined,
      sorted: string
    ) {
      const tenant = yield* CurrentTenant
      const at = new Date().toISOString()
      const common = `"tenant_id":${JSON.stringify(tenant)},"sequence":1`
      const made = all.map((fields) => {
        const id = makeId(prefix)
        const { row, shown } = textsOf({ id, createdAt: at, updatedAt: at }, fields, common)
        return { id, row, shown }
      })
      const shares = made.map(({ id, shown }) => ({ resource: id, sequence: 1, data: shown }))
      const rows = `[${made.map(({ row }) => row).join(",")}]`
      const events = recordAll({ tenant, client, at, type: typed("created") }, shares)
      const part = sql`
        made as (
          insert into ${table} (${columns})
          select ${columns} from json_populate_recordset(null::${table}, ${rows}::json)
          order by ${sql.literal(sorted)}
        ), told as (${events})`
      return { part, values: new JsonText<ReadonlyArray<A>>(`[${made.map(({ shown }) => shown).join(",")}]`) }
    }),

    /** What takes versions that are held away, all at once, as a part of another change. */
    discardingMany: Effect.fnUntraced(function* (all: ReadonlyArray<Versioned<A>>, client: string | undefined) {
      const tenant = yield* CurrentTenant
      const shares = all.map(({ sequence, value }) => ({
        resource: value.id,
        sequence: sequence + 1,
        data: JSON.stringify(value)
      }))
      const at = new Date().toISOString()
      const events = recordAll({ tenant, client, at, type: typed("deleted") }, shares)
      const ids = JSON.stringify(all.map(({ value }) => value.id))
      return sql`
        gone as (
          delete from ${table} where tenant_id = ${tenant} and id in (select json_array_elements_text(${ids}::json))
        ), told as (${events})`
    })
  }
}

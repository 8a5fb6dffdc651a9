import type * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { prefixOf } from "../../../domain/Ids.ts"
import { JsonText } from "../../../domain/JsonText.ts"
import { CurrentTenant } from "../../../domain/tenancy/Caller.ts"
import { makeId } from "../../Ids.ts"
import { arranger, rowMaker, type Shape } from "./Columns.ts"
import { recordingAll } from "./EventLog.ts"
import type { Identified, Spec, Stamped, Versioned } from "./ResourceSpec.ts"

/** How many resources of a table are written at once: one statement for all of them and their events. */
export const makeBulk = <A extends Stamped, F extends Identified>(
  sql: SqlClient.SqlClient,
  spec: Spec<A, F>,
  shape: Shape
) => {
  const table = sql.literal(spec.table)
  const arrange = arranger(shape)
  const rowOf = rowMaker(shape)
  const prefix = prefixOf(spec.entity.fields.id)
  const recordAll = recordingAll(sql)
  const columns = sql.literal(
    ["tenant_id", ...Object.keys(rowOf({})), "sequence"].map((column) => `"${column}"`).join(", ")
  )

  const typed = (action: string) => `${spec.name}.${action}`

  return {
    /**
     * What creates them all as a part of another change, in the order of `sorted` columns, so that those who create the
     * same never wait in a circle. Each is put into JSON once, for its event and for the answer.
     */
    creatingMany: Effect.fnUntraced(function* (
      all: ReadonlyArray<Omit<A, keyof Stamped>>,
      client: string | undefined,
      sorted: string
    ) {
      const tenant = yield* CurrentTenant
      const at = new Date().toISOString()
      const entities = all.map((fields) => ({ ...fields, id: makeId(prefix), createdAt: at, updatedAt: at }))
      const rows = entities.map((entity) => Object.assign(rowOf(entity), { tenant_id: tenant, sequence: 1 }))
      const texts = entities.map((entity) => JSON.stringify(arrange(entity)))
      const shares = entities.map(({ id }, n) => ({ resource: id, sequence: 1, data: texts[n] ?? "" }))
      const events = yield* recordAll({ tenant, client, at, type: typed("created") }, shares)
      const part = sql`
        made as (
          insert into ${table} (${columns})
          select ${columns} from json_populate_recordset(null::${table}, ${JSON.stringify(rows)}::json)
          order by ${sql.literal(sorted)}
        ), told as (${events})`
      return { part, values: new JsonText<ReadonlyArray<A>>(`[${texts.join(",")}]`) }
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
      const events = yield* recordAll({ tenant, client, at, type: typed("deleted") }, shares)
      const ids = JSON.stringify(all.map(({ value }) => value.id))
      return sql`
        gone as (
          delete from ${table} where tenant_id = ${tenant} and id in (select json_array_elements_text(${ids}::json))
        ), told as (${events})`
    })
  }
}

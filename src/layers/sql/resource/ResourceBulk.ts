import type * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { prefixOf } from "../../../domain/Ids.ts"
import { CurrentTenant } from "../../../domain/tenancy/Caller.ts"
import { newId } from "../../Ids.ts"
import { arranger, rowMaker, type Shape } from "./Columns.ts"
import { recordingAll } from "./EventLog.ts"
import type { Reading } from "./ResourceReading.ts"
import type { Identified, Spec, Stamped, Versioned } from "./ResourceSpec.ts"
import { refusing } from "./Violations.ts"

/** How many resources of a table are written at once: one statement for all of them and their events. */
export const makeBulk = <A extends Stamped, F extends Identified>(
  sql: SqlClient.SqlClient,
  spec: Spec<A, F>,
  shape: Shape,
  { read }: Reading<A>
) => {
  const table = sql.literal(spec.table)
  const arrange = arranger(shape)
  const rowOf = rowMaker(shape)
  const prefix = prefixOf(spec.entity.fields.id)
  const refuse = refusing(spec.table)
  const recordAll = recordingAll(sql)
  const columns = sql.literal(
    ["tenant_id", ...Object.keys(rowOf({})), "sequence"].map((column) => `"${column}"`).join(", ")
  )

  /** The events of what is done to all of them at one moment. */
  const happened =
    (action: string, client: string | undefined, tenant: string, at: string) =>
    (versions: ReadonlyArray<Versioned<A>>) =>
      recordAll(
        versions.map(({ sequence, value }) => ({
          tenant,
          type: `${spec.name}.${action}`,
          resource: value.id,
          client,
          sequence,
          at,
          data: value
        }))
      )

  return {
    /** Creates them all, in the order of `sorted` columns, so that those who create the same never wait in a circle. */
    createMany: Effect.fnUntraced(function* (
      all: ReadonlyArray<Omit<A, keyof Stamped>>,
      client: string | undefined,
      sorted: string
    ) {
      const tenant = yield* CurrentTenant
      const at = new Date().toISOString()
      const entities = yield* Effect.forEach(all, (fields) =>
        Effect.map(newId(prefix), (id) => ({ ...fields, id, createdAt: at, updatedAt: at }))
      )
      const rows = entities.map((entity) => ({ tenant_id: tenant, ...rowOf(entity), sequence: 1 }))
      const values = entities.map((entity) => read(arrange(entity)))
      const events = yield* happened("created", client, tenant, at)(values.map((value) => ({ value, sequence: 1 })))
      yield* refuse(sql`
        with made as (
          insert into ${table} (${columns})
          select ${columns} from json_populate_recordset(null::${table}, ${JSON.stringify(rows)}::json)
          order by ${sql.literal(sorted)}
        ) ${events}`)
      return values
    }),

    /** Takes versions that are held away, all at once. */
    discardMany: Effect.fnUntraced(function* (all: ReadonlyArray<Versioned<A>>, client: string | undefined) {
      const tenant = yield* CurrentTenant
      const next = all.map(({ sequence, value }) => ({ value, sequence: sequence + 1 }))
      const events = yield* happened("deleted", client, tenant, new Date().toISOString())(next)
      const ids = JSON.stringify(all.map(({ value }) => value.id))
      yield* refuse(sql`
        with gone as (
          delete from ${table} where tenant_id = ${tenant} and id in (select json_array_elements_text(${ids}::json))
        ) ${events}`)
    })
  }
}

import type { SqlClient } from "@effect/sql/SqlClient"
import { Effect } from "effect"
import type { SealedColumn } from "../secrets/SealedColumns.ts"

/** A sealed secret with the values of its row that identify it and that it is bound to. */
export interface SealedRow {
  readonly row: Readonly<Record<string, unknown>>
  readonly sealed: Uint8Array
}

const placeholders = (count: number, first = 1) => Array.from({ length: count }, (_, n) => `$${n + first}`).join(", ")

/** Reads the next secrets of a column in the order of its primary key. */
export const readSealed = (sql: SqlClient, column: SealedColumn, after: SealedRow | undefined, max: number) => {
  const names = Object.keys(column.key)
  const keyColumns = Object.values(column.key).join(", ")
  const selected = Object.entries({ ...column.key, ...column.others }).map(([name, source]) => `${source} as "${name}"`)
  const isNext = after === undefined ? "true" : `(${keyColumns}) > (${placeholders(names.length)})`
  const text = `select ${selected.join(", ")}, ${column.column} as "sealed" from ${column.table}
    where ${column.column} is not null and ${isNext} order by ${keyColumns} limit ${max}`
  return Effect.map(
    sql.unsafe<SealedRow["row"] & { readonly sealed: Uint8Array }>(
      text,
      after === undefined ? [] : names.map((name) => after.row[name])
    ),
    (rows) => rows.map(({ sealed, ...row }): SealedRow => ({ row, sealed }))
  )
}

/** Replaces a secret, unless it was replaced in the meantime. Returns whether it did. */
export const replaceSealed = (
  sql: SqlClient,
  column: SealedColumn,
  { row, sealed }: SealedRow,
  resealed: Uint8Array
) => {
  const names = Object.keys(column.key)
  const text = `update ${column.table} set ${column.column} = $1
    where ${column.column} = $2 and (${Object.values(column.key).join(", ")}) = (${placeholders(names.length, 3)})
    returning 1`
  return Effect.map(
    sql.unsafe<object>(text, [resealed, sealed, ...names.map((name) => row[name])]),
    (rows) => rows.length === 1
  )
}

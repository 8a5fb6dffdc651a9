import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { inTransaction } from "../postgres/connection/Transactions.ts"
import { type SealedColumn, sealedColumns } from "../secrets/SealedColumns.ts"
import { Secrets } from "../secrets/Secrets.ts"
import { readSealed, replaceSealed, type SealedRow } from "./SealedRows.ts"

const batchSize = 200

/** Seals every secret of a column again that the newest key has not sealed. Small transactions: it may be interrupted. */
const resealColumn = Effect.fnUntraced(function* (column: SealedColumn) {
  const sql = yield* SqlClient.SqlClient
  const secrets = yield* Secrets

  const resealRow = (sealedRow: SealedRow) => {
    const resealed = secrets.reseal(column.associatedDataOf(sealedRow.row), sealedRow.sealed)
    return resealed === undefined ? Effect.succeed(false) : replaceSealed(sql, column, sealedRow, resealed)
  }

  let moved = 0
  let page = yield* readSealed(sql, column, undefined, batchSize)
  while (page.length > 0) {
    const changed = yield* inTransaction(sql)(Effect.forEach(page, resealRow))
    moved += changed.filter((wasChanged) => wasChanged).length
    page = yield* readSealed(sql, column, page.at(-1), batchSize)
  }
  return moved
})

/**
 * Seals everything with the newest key, then forgets the others, so that processes start without them. Run it when every
 * process has the newest key first: another one could seal with an older key afterwards.
 */
export const reseal = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { keyIds } = yield* Secrets
  const results = yield* Effect.forEach(sealedColumns, (column) =>
    Effect.map(resealColumn(column), (moved) => ({ name: `${column.table}.${column.column}`, moved }))
  )
  yield* sql`delete from secret_keys where id <> ${keyIds[0]}`
  return { results, keyId: keyIds[0] }
})

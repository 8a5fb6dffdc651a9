import type * as SqlClient from "@effect/sql/SqlClient"
import type { Fragment, Statement } from "@effect/sql/Statement"
import { Data, Duration, Effect } from "effect"
import { inTransaction } from "./connection/Transactions.ts"

/** Maximum number of rows per maintenance transaction. */
export const batchSize = 200

/** The pause after a batch, as a multiple of its duration: maintenance uses at most a tenth of the time, whatever the load. */
const pauseFactor = 9

/** Runs batches, each from the cursor that the previous one returned, until a batch returns none. */
export const runInBatches = <A, E, R>(batch: (after: A | undefined) => Effect.Effect<A | undefined, E, R>) => {
  const runFrom = (after: A | undefined): Effect.Effect<void, E, R> =>
    Effect.flatMap(Effect.timed(batch(after)), ([elapsed, cursor]) =>
      cursor === undefined
        ? Effect.void
        : Effect.zipRight(Effect.sleep(Duration.times(elapsed, pauseFactor)), runFrom(cursor))
    )
  return runFrom(undefined)
}

/** Repeats a batch that needs no cursor until it processes fewer than `max` rows. `batch` returns its number of rows. */
export const drainInBatches = <E, R>(max: number, batch: (max: number) => Effect.Effect<number, E, R>) =>
  runInBatches(() => Effect.map(batch(max), (count) => (count < max ? undefined : count)))

/** The row is locked by another copy of the janitor, or no longer exists. */
export class RowLockUnavailable extends Data.TaggedError("RowLockUnavailable") {}

/** Runs work in a transaction that locks a row first. It fails if `lock` returns no row, and never waits for the lock. */
export const withRowLock =
  (sql: SqlClient.SqlClient, lock: Statement<object>) =>
  <A, E, R>(work: Effect.Effect<A, E, R>) =>
    Effect.filterOrFail(
      lock,
      (rows) => rows.length === 1,
      () => new RowLockUnavailable()
    ).pipe(Effect.zipRight(work), inTransaction(sql))

/** Deletes at most `max` rows of a table. Returns how many. */
export const deleteUpTo = (sql: SqlClient.SqlClient, max: number, table: string, where: Fragment) =>
  Effect.map(
    sql<object>`
      delete from ${sql(table)} where ctid = any (array(
        select ctid from ${sql(table)} where ${where} limit ${max}
      )) returning 1`,
    (rows) => rows.length
  )

export interface KeyColumn {
  readonly name: string
  readonly type: string
}

/** Rows of a table to delete in the order of a key. */
export interface RowsToDelete {
  readonly table: string
  readonly key: ReadonlyArray<KeyColumn>
  readonly where: Fragment
}

/** Cursor: the key of the last row of a batch. */
export type BatchCursor = ReadonlyArray<string>

/**
 * Deletes the next batch. Returns its cursor, or undefined after the last batch. The cursor keeps the index scan from
 * visiting the dead rows of earlier batches again.
 */
export const deleteBatch =
  (sql: SqlClient.SqlClient, max = batchSize) =>
  ({ key, table, where }: RowsToDelete, after: BatchCursor | undefined) => {
    const columns = key.map(({ name }) => `"${name}"`)
    const keyColumns = sql.literal(columns.join(", "))
    const name = sql.literal(table)
    const values = key.map(({ type }, n) => sql`${after?.[n] ?? null}::text::${sql.literal(type)}`)
    const isAfter =
      after === undefined
        ? sql.literal("true")
        : sql`(${keyColumns}) > (${values.reduce((all, value) => sql`${all}, ${value}`)})`
    return Effect.map(
      sql<{ last: BatchCursor; count: number }>`
        with taken as materialized (
          select ctid, ${keyColumns} from ${name} where ${where} and ${isAfter} order by ${keyColumns} limit ${max}
        ), gone as (
          delete from ${name} where ctid = any (array(select ctid from taken))
        )
        select json_build_array(${sql.literal(columns.map((column) => `${column}::text`).join(", "))}) as last,
          (select count(*) from taken)
        from taken order by ${sql.literal(columns.map((column) => `${column} desc`).join(", "))} limit 1`,
      ([row]) => (row === undefined || row.count < max ? undefined : row.last)
    )
  }

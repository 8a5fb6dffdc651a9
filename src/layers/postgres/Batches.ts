import type * as SqlClient from "@effect/sql/SqlClient"
import type { Fragment, Statement } from "@effect/sql/Statement"
import { Data, Duration, Effect } from "effect"
import { atomically } from "./connection/Transaction.ts"

/** How many rows one transaction of the upkeep takes at most. */
export const batchSize = 200

/** After a batch so many times its duration passes before the next: whatever the load, others have most of the server. */
const restFactor = 9

/** Works batch by batch, each from where the one before ended, until one ends nowhere. */
export const inBatches = <A, E, R>(batch: (after: A | undefined) => Effect.Effect<A | undefined, E, R>) => {
  const from = (after: A | undefined): Effect.Effect<void, E, R> =>
    Effect.flatMap(Effect.timed(batch(after)), ([took, end]) =>
      end === undefined ? Effect.void : Effect.zipRight(Effect.sleep(Duration.times(took, restFactor)), from(end))
    )
  return from(undefined)
}

/** For a batch that needs no place to go on from: it takes the first there are, and tells how many. */
export const untilFewer = <E, R>(max: number, batch: (max: number) => Effect.Effect<number, E, R>) =>
  inBatches(() => Effect.map(batch(max), (count) => (count < max ? undefined : count)))

/** Another copy of the janitor is at it, or is done with it. */
export class TakenElsewhere extends Data.TaggedError("TakenElsewhere") {}

/** Makes work a transaction that begins with locking a row, and fails unless that can be done at once. */
export const whileLocked =
  (sql: SqlClient.SqlClient, lock: Statement<object>) =>
  <A, E, R>(work: Effect.Effect<A, E, R>) =>
    Effect.filterOrFail(
      lock,
      (rows) => rows.length === 1,
      () => new TakenElsewhere()
    ).pipe(Effect.zipRight(work), atomically(sql))

export interface KeyColumn {
  readonly name: string
  readonly type: string
}

/** Rows of a table that go one after the other, in the order of a key. */
export interface DoomedRows {
  readonly table: string
  readonly key: ReadonlyArray<KeyColumn>
  readonly where: Fragment
}

/** Where a batch ended: the key of its last row. */
export type EndKey = ReadonlyArray<string>

/**
 * Deletes the next rows; tells where that ended, or nothing if it took the last. Going on from there, and not from the
 * first row that is left, spares the server walking over all those it has deleted before.
 */
export const deleteBatch =
  (sql: SqlClient.SqlClient, max = batchSize) =>
  ({ key, table, where }: DoomedRows, after: EndKey | undefined) => {
    const columns = key.map(({ name }) => `"${name}"`)
    const inOrder = sql.literal(columns.join(", "))
    const name = sql.literal(table)
    const values = key.map(({ type }, n) => sql`${after?.[n] ?? null}::text::${sql.literal(type)}`)
    const isAfter =
      after === undefined
        ? sql.literal("true")
        : sql`(${inOrder}) > (${values.reduce((all, value) => sql`${all}, ${value}`)})`
    return Effect.map(
      sql<{ last: EndKey; count: number }>`
        with taken as materialized (
          select ctid, ${inOrder} from ${name} where ${where} and ${isAfter} order by ${inOrder} limit ${max}
        ), gone as (
          delete from ${name} where ctid = any (array(select ctid from taken))
        )
        select json_build_array(${sql.literal(columns.map((column) => `${column}::text`).join(", "))}) as last,
          (select count(*) from taken)
        from taken order by ${sql.literal(columns.map((column) => `${column} desc`).join(", "))} limit 1`,
      ([end]) => (end === undefined || end.count < max ? undefined : end.last)
    )
  }

import type { Connection } from "@effect/sql/SqlConnection"
import { SqlError } from "@effect/sql/SqlError"
import { Effect, Stream } from "effect"
import type pg from "pg"
import { type Crossing, CrossingQuery } from "./Borders.ts"
import { NamedQuery, patience, type Settle } from "./NamedQuery.ts"
import { isLost, isStalePlan } from "./Outage.ts"
import { refreshPlans } from "./Planning.ts"

export type Query = pg.QueryConfig | pg.QueryArrayConfig
export type Done = (error: Error | undefined, result?: pg.QueryResult) => void

/** Texts with placeholders are few and constant; beyond this many the server would hoard plans, so the rest go unnamed. */
const mostNames = 500
const names = new Map<string, string>()

const nameOf = (text: string) => {
  const known = names.get(text)
  if (known !== undefined || names.size >= mostNames) return known
  const name = `s${names.size}`
  names.set(text, name)
  return name
}

/** The borders of a transaction are bounded as well; a migration, which also comes without values, is not. */
const isBorder = (text: string) => /^(BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE)/.test(text)

const prepared = (text: string, values: ReadonlyArray<unknown>): Query => {
  const name = nameOf(text)
  const query: Query = { text, values: [...values], ...patience }
  if (name !== undefined) query.name = name
  return query
}

/** Without values a text may hold several statements, as a migration does. */
const unprepared = (text: string, values: ReadonlyArray<unknown>): Query => ({
  text,
  ...(values.length === 0 ? {} : { values: [...values] })
})

const rowsOf = ({ rows }: pg.QueryResult) => rows ?? []

export const isPrepared = (query: Query) => query.name !== undefined && !("rowMode" in query)

/** Hands a query to the driver: one that is prepared, or a border, in the form it has here. */
const submitOnce = (client: pg.ClientBase, query: Query, done: Done, crossing?: Crossing) => {
  let isSettled = false
  const settle: Settle = (error, result) => {
    // The driver tells a second time of a query that it could not send, when its connection is thrown away.
    if (isSettled) return
    isSettled = true
    done(error ?? undefined, result)
  }
  if (!isPrepared(query) && !isBorder(query.text)) client.query(query, settle)
  else client.query(crossing === undefined ? new NamedQuery(query, settle) : new CrossingQuery(query, settle, crossing))
}

/** Connections with statements that a migration has made useless. */
const outdated = new WeakSet<pg.ClientBase>()

/** Whether a connection can serve others after this. */
export const isWorn = (client: pg.ClientBase, error?: Error) =>
  (error !== undefined && isLost(error)) || outdated.has(client)

/**
 * Prepares a statement under another name if a migration has changed its rows, unless something was done before it that
 * would be lost.
 */
export const submit = (client: pg.ClientBase, query: Query, done: Done, crossing?: Crossing, isAlone = true) =>
  submitOnce(
    client,
    query,
    (error, result) => {
      if (query.name === undefined || !isStalePlan(error)) return done(error, result)
      outdated.add(client)
      if (!isAlone) return done(error)
      if (crossing?.opens) submitOnce(client, { text: "ROLLBACK" }, () => {})
      submitOnce(client, { ...query, name: `${query.name} anew` }, done, crossing)
    },
    crossing
  )

/**
 * What `@effect/sql` needs of a connection. Statements run to their end even when the fiber that asked is interrupted:
 * cancelling one through another connection may hit whoever was lent the connection next (Effect-TS/effect#8068). The
 * server's own timeouts bound them. A class, because one is made for every transaction.
 */
export abstract class Sending implements Connection {
  protected abstract send(query: Query, done: Done): void

  private run<A>(query: Query, read: (result: pg.QueryResult) => A) {
    return Effect.uninterruptible(
      Effect.async<A, SqlError>((resume) =>
        this.send(query, (cause, result) =>
          resume(
            result === undefined || cause !== undefined
              ? Effect.fail(new SqlError({ cause, message: "Failed to execute statement" }))
              : Effect.succeed(read(result))
          )
        )
      )
    )
  }

  execute(text: string, values: ReadonlyArray<unknown>) {
    return this.run(prepared(text, values), rowsOf)
  }

  executeRaw(text: string, values: ReadonlyArray<unknown>) {
    return this.run(prepared(text, values), (result) => result)
  }

  executeValues(text: string, values: ReadonlyArray<unknown>) {
    return this.run({ ...prepared(text, values), rowMode: "array" }, rowsOf)
  }

  executeUnprepared(text: string, values: ReadonlyArray<unknown>) {
    return this.run(unprepared(text, values), rowsOf)
  }

  executeStream() {
    return Stream.die("statements are not streamed: page through them instead")
  }
}

/** Over whichever connection of the pool is free. One that merely refused a statement is as good as before. */
export class Pooled extends Sending {
  readonly #pool: pg.Pool

  constructor(pool: pg.Pool) {
    super()
    this.#pool = pool
  }

  protected send(query: Query, done: Done) {
    this.#pool.connect((error, client, release) => {
      if (client === undefined) return done(error)
      refreshPlans(client)
      submit(client, query, (error, result) => {
        release(isWorn(client, error))
        done(error, result)
      })
    })
  }
}

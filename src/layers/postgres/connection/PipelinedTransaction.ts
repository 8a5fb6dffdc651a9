import { SqlError } from "@effect/sql/SqlError"
import { Effect } from "effect"
import type pg from "pg"
import {
  DriverConnection,
  type DriverQuery,
  isPrepared,
  isUnusable,
  type QueryCallback,
  submitQuery
} from "./DriverConnection.ts"
import { transactionStatements } from "./PipelinedQuery.ts"
import { isConnectionFatal } from "./TransientErrors.ts"

/** Connections on which BEGIN and COMMIT are prepared. */
const preparedClients = new WeakSet<pg.ClientBase>()

/** Prepares BEGIN and COMMIT by running an empty transaction, once per connection. */
export const prepareTransactionStatements = (client: pg.ClientBase, done: (error?: Error) => void) => {
  if (preparedClients.has(client)) return done()
  submitQuery(client, transactionStatements.begin, (error) => {
    if (error !== undefined) return done(error)
    submitQuery(client, transactionStatements.commit, (error) => {
      if (error === undefined) preparedClients.add(client)
      done(error)
    })
  })
}

const transactionClosed = new Error("This transaction is closed already")
const rolledBack = new Error("A statement of this transaction failed, so the server rolled it back")

const endError = (cause: Error) => new SqlError({ cause, message: "Failed to end the transaction" })

/** The connection of one transaction. BEGIN goes out with the first statement. */
export class PipelinedTransaction extends DriverConnection {
  readonly #client: pg.ClientBase
  readonly #release: (destroy: boolean) => void
  #isOpen = false
  #commitsWithNext = false
  /** Rejects further statements. The transaction may still be open, if its commit failed. */
  #isClosed = false
  #isFailed = false
  #isConnectionBroken = false

  constructor(client: pg.ClientBase, release: (destroy: boolean) => void) {
    super()
    this.#client = client
    this.#release = release
  }

  /** Pipelines COMMIT with the next statement, which must be the last one. */
  commitWithNext() {
    this.#commitsWithNext = true
  }

  protected send(query: DriverQuery, done: QueryCallback) {
    if (this.#isClosed) return done(transactionClosed)
    const begins = !this.#isOpen
    const commits = this.#commitsWithNext && isPrepared(query)
    this.#isOpen = true
    this.#isClosed ||= commits
    const settle: QueryCallback = (error, result) => {
      if (error !== undefined) this.#isConnectionBroken ||= isConnectionFatal(error)
      if (commits) this.#isOpen = this.#isFailed = error !== undefined
      done(error, result)
    }
    if (isPrepared(query)) {
      return submitQuery(this.#client, query, settle, begins || commits ? { begins, commits } : undefined, begins)
    }
    // The driver sends both in order. If BEGIN fails, so does the query, and reports the error.
    if (begins) submitQuery(this.#client, transactionStatements.begin, () => {})
    submitQuery(this.#client, query, settle)
  }

  #sendEnd(how: "COMMIT" | "ROLLBACK") {
    return Effect.async<void, SqlError>((resume) =>
      submitQuery(this.#client, { text: this.#isFailed ? "ROLLBACK" : how }, (error, result) => {
        // A COMMIT that fails with an SQLSTATE has ended the transaction as well.
        if (error !== undefined) this.#isConnectionBroken ||= how === "ROLLBACK" || isConnectionFatal(error)
        const cause = error ?? (result?.command === how ? undefined : rolledBack)
        resume(cause === undefined ? Effect.void : Effect.fail(endError(cause)))
      })
    )
  }

  /** Ends the transaction if it is still open. Fails if the server answers COMMIT with ROLLBACK. */
  end(how: "COMMIT" | "ROLLBACK"): Effect.Effect<void, SqlError> {
    this.#isClosed = true
    return this.#isOpen ? this.#sendEnd(how) : Effect.void
  }

  /** Returns the connection to the pool, which destroys it if it is unusable. */
  release() {
    this.#release(this.#isConnectionBroken || isUnusable(this.#client))
  }
}

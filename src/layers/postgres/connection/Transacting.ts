import { SqlError } from "@effect/sql/SqlError"
import { Effect } from "effect"
import type pg from "pg"
import { borders } from "./Borders.ts"
import { type Done, isPrepared, isWorn, type Query, Sending, submit } from "./Connection.ts"
import { isLost } from "./Outage.ts"

/** Connections on which the borders are prepared. */
const ready = new WeakSet<pg.ClientBase>()

/** Prepares the borders, by opening a transaction and closing it. */
export const prepareBorders = (client: pg.ClientBase, done: (error?: Error) => void) => {
  if (ready.has(client)) return done()
  submit(client, borders.open, (error) => {
    if (error !== undefined) return done(error)
    submit(client, borders.close, (error) => {
      if (error === undefined) ready.add(client)
      done(error)
    })
  })
}

const closedAlready = new Error("This transaction is closed already")
const undone = new Error("A statement of this transaction failed, so that nothing of it was kept")

const notEnded = (cause: Error) => new SqlError({ cause, message: "Failed to end the transaction" })

/** A connection for one transaction alone, which its first statement opens. */
export class Transacting extends Sending {
  readonly #client: pg.ClientBase
  readonly #release: (destroy: boolean) => void
  #isOpen = false
  #isClosing = false
  /** Takes no more statements; even so it has to be ended if it is still open, because its closing failed. */
  #isClosed = false
  #isUndone = false
  #isLost = false

  constructor(client: pg.ClientBase, release: (destroy: boolean) => void) {
    super()
    this.#client = client
    this.#release = release
  }

  /** Lets the next statement be the last one: it closes the transaction as well. */
  closeWithNext() {
    this.#isClosing = true
  }

  protected send(query: Query, done: Done) {
    if (this.#isClosed) return done(closedAlready)
    const opens = !this.#isOpen
    const closes = this.#isClosing && isPrepared(query)
    this.#isOpen = true
    this.#isClosed ||= closes
    const settle: Done = (error, result) => {
      if (error !== undefined) this.#isLost ||= isLost(error)
      if (closes) this.#isOpen = this.#isUndone = error !== undefined
      done(error, result)
    }
    if (isPrepared(query)) {
      return submit(this.#client, query, settle, opens || closes ? { opens, closes } : undefined, opens)
    }
    // The driver sends them one after the other. What else goes wrong after a failed opening, the query will tell.
    if (opens) submit(this.#client, borders.open, () => {})
    submit(this.#client, query, settle)
  }

  #sendEnd(how: "COMMIT" | "ROLLBACK") {
    return Effect.async<void, SqlError>((resume) =>
      submit(this.#client, { text: this.#isUndone ? "ROLLBACK" : how }, (error, result) => {
        // A commit that is refused has ended the transaction all the same.
        if (error !== undefined) this.#isLost ||= how === "ROLLBACK" || isLost(error)
        const fault = error ?? (result?.command === how ? undefined : undone)
        resume(fault === undefined ? Effect.void : Effect.fail(notEnded(fault)))
      })
    )
  }

  /** Ends what there still is to be ended. A commit that turns out to have undone everything is a failure. */
  end(how: "COMMIT" | "ROLLBACK"): Effect.Effect<void, SqlError> {
    this.#isClosed = true
    return this.#isOpen ? this.#sendEnd(how) : Effect.void
  }

  /** Thrown away, if it cannot be used again. */
  giveBack() {
    this.#release(this.#isLost || isWorn(this.#client))
  }
}

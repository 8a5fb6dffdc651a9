import type { Connection } from "@effect/sql/SqlConnection"
import { SqlError } from "@effect/sql/SqlError"
import { Effect } from "effect"
import type pg from "pg"
import { borders } from "./Borders.ts"
import { connectionOver, type Done, isPrepared, type Query, submit } from "./Connection.ts"
import { isLost } from "./Outage.ts"

/** A connection for one transaction alone, which its first statement opens. */
export interface Transacting {
  readonly connection: Connection
  /** Lets the next statement be the last one: it closes the transaction as well. */
  readonly closeWithNext: () => void
  /** Ends what there still is to be ended. A commit that turns out to have undone everything is a failure. */
  readonly end: (how: "COMMIT" | "ROLLBACK") => Effect.Effect<void, SqlError>
  /** Thrown away, if it cannot be used again. */
  readonly giveBack: () => void
}

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

export const transacting = (client: pg.ClientBase, release: (destroy: boolean) => void): Transacting => {
  // Closed is what takes no more statements; open is what still has to be ended, even then if its closing failed.
  const state = { isOpen: false, isClosing: false, isClosed: false, isUndone: false, isLost: false }

  const hand = (query: Query, done: Done) => {
    const opens = !state.isOpen
    const closes = state.isClosing && isPrepared(query)
    state.isOpen = true
    state.isClosed ||= closes
    const settle: Done = (error, result) => {
      if (error !== undefined) state.isLost ||= isLost(error)
      if (closes) state.isOpen = state.isUndone = error !== undefined
      done(error, result)
    }
    if (isPrepared(query)) return submit(client, query, settle, opens || closes ? { opens, closes } : undefined)
    // The driver sends them one after the other. What else goes wrong after a failed opening, the query will tell.
    if (opens) submit(client, borders.open, () => {})
    submit(client, query, settle)
  }

  const connection = connectionOver((query, done) => (state.isClosed ? done(closedAlready) : hand(query, done)))

  const sendEnd = (how: "COMMIT" | "ROLLBACK") =>
    Effect.async<void, SqlError>((resume) =>
      submit(client, { text: state.isUndone ? "ROLLBACK" : how }, (error, result) => {
        // A commit that is refused has ended the transaction all the same.
        if (error !== undefined) state.isLost ||= how === "ROLLBACK" || isLost(error)
        const fault = error ?? (result?.command === how ? undefined : undone)
        resume(fault === undefined ? Effect.void : Effect.fail(notEnded(fault)))
      })
    )

  const end = (how: "COMMIT" | "ROLLBACK") =>
    Effect.suspend(() => {
      state.isClosed = true
      return state.isOpen ? sendEnd(how) : Effect.void
    })

  return {
    connection,
    closeWithNext: () => {
      state.isClosing = true
    },
    end,
    giveBack: () => release(state.isLost)
  }
}

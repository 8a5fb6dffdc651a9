import type { Connection } from "@effect/sql/SqlConnection"
import type pg from "pg"
import { borders } from "./Borders.ts"
import { connectionOver, type Done, isPrepared, type Query, submit } from "./Connection.ts"
import { isLost } from "./Outage.ts"

/** A connection for one transaction alone, which its first statement opens. */
export interface Transacting {
  readonly connection: Connection
  /** Lets the next statement be the last one: it closes the transaction as well. */
  readonly closeWithNext: () => void
  /** Whether there is still something to be ended. */
  readonly isOpen: () => boolean
  readonly giveBack: (broken: boolean) => void
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

export const transacting = (client: pg.ClientBase, release: (destroy: boolean) => void): Transacting => {
  const state = { isOpen: false, isClosing: false, isClosed: false, isLost: false }

  const hand = (query: Query, done: Done) => {
    if (state.isClosed) return done(new Error("This transaction is closed already"))
    const crossing = { opens: !state.isOpen, closes: state.isClosing }
    if (isPrepared(query)) {
      state.isOpen = true
      state.isClosed = crossing.closes
      return submit(client, query, done, crossing.opens || crossing.closes ? crossing : undefined)
    }
    // The driver sends them one after the other. What else goes wrong after a failed opening, the query will tell.
    if (crossing.opens) submit(client, borders.open, () => {})
    state.isOpen = true
    submit(client, query, done)
  }

  const connection = connectionOver((query, done) =>
    hand(query, (error, result) => {
      if (error !== undefined) {
        state.isClosed = false
        state.isLost ||= isLost(error)
      }
      done(error, result)
    })
  )
  return {
    connection,
    closeWithNext: () => {
      state.isClosing = true
    },
    isOpen: () => state.isOpen && !state.isClosed,
    giveBack: (broken) => release(state.isLost || broken)
  }
}

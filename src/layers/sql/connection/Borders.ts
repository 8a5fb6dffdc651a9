import pg from "pg"
import { NamedQuery } from "./NamedQuery.ts"

/** The statements that open and close a transaction. Once prepared on a connection, they can go along with another one. */
export const borders = {
  open: { name: "begin", text: "BEGIN" },
  close: { name: "commit", text: "COMMIT" }
}

/** Which borders go along with a query. */
export interface Crossing {
  readonly opens: boolean
  readonly closes: boolean
}

/** The driver's own way of noting what the server did, which its types leave out. */
const note: (this: pg.Query, message: unknown, connection: unknown) => void = Reflect.get(
  pg.Query.prototype,
  "handleCommandComplete"
)

const perform = (connection: pg.Connection, { name }: { readonly name: string }) => {
  connection.bind({ statement: name, values: [] }, true)
  connection.execute({}, true)
}

/**
 * A prepared statement that also opens a transaction, closes it, or both, in one message to the server. Alone, each
 * border would cost as much time on the way as any other statement, and locks would be held as much longer.
 */
export class CrossingQuery extends NamedQuery {
  crossing: Crossing = { opens: false, closes: false }
  private done = 0

  override submit = (connection: pg.Connection) => {
    connection.stream.cork()
    try {
      if (this.crossing.opens) perform(connection, borders.open)
      // What is not to be sent at all is returned as an error, which the types leave out as well.
      return pg.Query.prototype.submit.call(this, connection)
    } finally {
      connection.stream.uncork()
    }
  }

  /** The driver runs what it has bound, and ends its message. */
  _getRows(connection: pg.Connection) {
    connection.execute({}, true)
    if (this.crossing.closes) perform(connection, borders.close)
    connection.sync()
  }

  /** Of all that is done, only the statement itself has a result. */
  handleCommandComplete(message: unknown, connection: unknown) {
    if (this.done++ === (this.crossing.opens ? 1 : 0)) note.call(this, message, connection)
  }
}

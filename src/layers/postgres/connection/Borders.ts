import pg from "pg"
import { serialize } from "pg-protocol"
import type { Letter } from "./Letter.ts"
import { NamedQuery, type Settle } from "./NamedQuery.ts"

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

const messageOf = ({ name }: { readonly name: string }) =>
  Buffer.concat([serialize.bind({ statement: name, values: [] }), serialize.execute({})])
const opening = messageOf(borders.open)
const closing = messageOf(borders.close)

/**
 * A prepared statement that also opens a transaction, closes it, or both, in one message to the server. Alone, each
 * border would cost as much time on the way as any other statement, and locks would be held as much longer.
 */
export class CrossingQuery extends NamedQuery {
  private readonly crossing: Crossing
  private done = 0

  constructor(query: pg.QueryConfig, settle: Settle, crossing: Crossing) {
    super(query, settle)
    this.crossing = crossing
  }

  protected override write(letter: Letter) {
    if (this.crossing.opens) letter.add(opening)
    super.write(letter)
  }

  /** The driver runs what it has bound, and ends its message. */
  _getRows(letter: Letter) {
    letter.execute({})
    if (this.crossing.closes) letter.add(closing)
    letter.sync()
  }

  /** Of all that is done, only the statement itself has a result. */
  handleCommandComplete(message: unknown, connection: unknown) {
    if (this.done++ === (this.crossing.opens ? 1 : 0)) note.call(this, message, connection)
  }
}

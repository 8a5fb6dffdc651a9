import pg from "pg"
import { serialize } from "pg-protocol"
import type { Letter } from "./Letter.ts"
import { NamedQuery, type Settle } from "./NamedQuery.ts"

/** Once prepared on a connection, these can be pipelined with another statement. */
export const borders = {
  open: { name: "begin", text: "BEGIN" },
  close: { name: "commit", text: "COMMIT" }
}

/** Which of BEGIN and COMMIT to pipeline with a query. */
export interface Crossing {
  readonly opens: boolean
  readonly closes: boolean
}

/** The driver's method; its types omit it. */
const driverHandleCommandComplete: (this: pg.Query, message: unknown, connection: unknown) => void = Reflect.get(
  pg.Query.prototype,
  "handleCommandComplete"
)

const messageOf = ({ name }: { readonly name: string }) =>
  Buffer.concat([serialize.bind({ statement: name, values: [] }), serialize.execute({})])
const beginMessage = messageOf(borders.open)
const commitMessage = messageOf(borders.close)

/**
 * A prepared statement pipelined with BEGIN, COMMIT or both, in one write to the server. Each would otherwise cost a
 * round trip of its own, and the transaction would keep its locks that much longer.
 */
export class CrossingQuery extends NamedQuery {
  private readonly boundary: Crossing
  private completedCommands = 0

  constructor(query: pg.QueryConfig, settle: Settle, boundary: Crossing) {
    super(query, settle)
    this.boundary = boundary
  }

  protected override write(buffer: Letter) {
    if (this.boundary.opens) buffer.add(beginMessage)
    super.write(buffer)
  }

  /** The driver calls this to execute the bound statement and to send Sync. */
  _getRows(buffer: Letter) {
    buffer.execute({})
    if (this.boundary.closes) buffer.add(commitMessage)
    buffer.sync()
  }

  /** BEGIN and COMMIT complete as well; only the result of the statement itself is kept. */
  handleCommandComplete(message: unknown, connection: unknown) {
    if (this.completedCommands++ === (this.boundary.opens ? 1 : 0))
      driverHandleCommandComplete.call(this, message, connection)
  }
}

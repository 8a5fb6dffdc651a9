import pg from "pg"
import { serialize } from "pg-protocol"
import type { MessageBuffer } from "./MessageBuffer.ts"
import { type DriverCallback, NamedQuery } from "./NamedQuery.ts"

/** Once prepared on a connection, these can be pipelined with another statement. */
export const transactionStatements = {
  begin: { name: "begin", text: "BEGIN" },
  commit: { name: "commit", text: "COMMIT" }
}

/** Which of BEGIN and COMMIT to pipeline with a query. */
export interface TransactionBoundary {
  readonly begins: boolean
  readonly commits: boolean
}

/** The driver's method; its types omit it. */
const driverHandleCommandComplete: (this: pg.Query, message: unknown, connection: unknown) => void = Reflect.get(
  pg.Query.prototype,
  "handleCommandComplete"
)

const messageOf = ({ name }: { readonly name: string }) =>
  Buffer.concat([serialize.bind({ statement: name, values: [] }), serialize.execute({})])
const beginMessage = messageOf(transactionStatements.begin)
const commitMessage = messageOf(transactionStatements.commit)

/**
 * A prepared statement pipelined with BEGIN, COMMIT or both, in one write to the server. Each would otherwise cost a
 * round trip of its own, and the transaction would keep its locks that much longer.
 */
export class PipelinedQuery extends NamedQuery {
  private readonly boundary: TransactionBoundary
  private completedCommands = 0

  constructor(query: pg.QueryConfig, settle: DriverCallback, boundary: TransactionBoundary) {
    super(query, settle)
    this.boundary = boundary
  }

  protected override write(buffer: MessageBuffer) {
    if (this.boundary.begins) buffer.add(beginMessage)
    super.write(buffer)
  }

  /** The driver calls this to execute the bound statement and to send Sync. */
  _getRows(buffer: MessageBuffer) {
    buffer.execute({})
    if (this.boundary.commits) buffer.add(commitMessage)
    buffer.sync()
  }

  /** BEGIN and COMMIT complete as well; only the result of the statement itself is kept. */
  handleCommandComplete(message: unknown, connection: unknown) {
    if (this.completedCommands++ === (this.boundary.begins ? 1 : 0))
      driverHandleCommandComplete.call(this, message, connection)
  }
}

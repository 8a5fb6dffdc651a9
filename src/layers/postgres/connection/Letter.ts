import type pg from "pg"
import { serialize } from "pg-protocol"

/** The connection's own list of what is prepared on it, which its types leave out. */
interface Statements {
  readonly parsedStatements: Readonly<Record<string, string>>
  readonly submittedNamedStatements: Record<string, string>
}

/**
 * Takes what the driver would send over a connection and sends it in one piece: given to the socket one by one, each of
 * half a dozen messages of a few bytes costs as much as all of them together.
 */
export class Letter {
  readonly parsedStatements: Statements["parsedStatements"]
  readonly submittedNamedStatements: Statements["submittedNamedStatements"]
  /** Whether the server is asked what the rows will be. */
  isAskedToDescribe = false
  #isToDescribe: boolean
  readonly #stream: pg.Connection["stream"]
  readonly #messages: Uint8Array[] = []

  constructor(connection: pg.Connection, isToDescribe: boolean) {
    const statements = connection as pg.Connection & Statements // of which the types know only the first half
    this.parsedStatements = statements.parsedStatements
    this.submittedNamedStatements = statements.submittedNamedStatements
    this.#isToDescribe = isToDescribe
    this.#stream = connection.stream
  }

  add(message: Uint8Array) {
    this.#messages.push(message)
  }

  /** What the server has not seen before, it has to describe. */
  parse(query: Parameters<typeof serialize.parse>[0]) {
    this.#isToDescribe = true
    this.add(serialize.parse(query))
  }

  bind(values: Parameters<typeof serialize.bind>[0]) {
    this.add(serialize.bind(values))
  }

  describe(what: Parameters<typeof serialize.describe>[0]) {
    if (!this.#isToDescribe) return
    this.isAskedToDescribe = true
    this.add(serialize.describe(what))
  }

  execute(what: Parameters<typeof serialize.execute>[0]) {
    this.add(serialize.execute(what))
  }

  close(what: Parameters<typeof serialize.close>[0]) {
    this.add(serialize.close(what))
  }

  sync() {
    this.add(serialize.sync())
  }

  post() {
    if (this.#stream.writable) this.#stream.write(Buffer.concat(this.#messages))
  }
}

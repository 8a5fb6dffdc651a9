import type pg from "pg"
import { serialize } from "pg-protocol"

/** The prepared statements of a connection; the driver's types omit them. */
interface PreparedStatements {
  readonly parsedStatements: Readonly<Record<string, string>>
  readonly submittedNamedStatements: Record<string, string>
}

/**
 * Stands in for the driver's connection, buffers its protocol messages and sends them in one socket write. Written one by
 * one, each of half a dozen small messages costs as much as all of them in one write.
 */
export class MessageBuffer {
  readonly parsedStatements: PreparedStatements["parsedStatements"]
  readonly submittedNamedStatements: PreparedStatements["submittedNamedStatements"]
  /** Whether the buffer contains a Describe message. */
  hasDescribe = false
  #needsDescribe: boolean
  readonly #stream: pg.Connection["stream"]
  readonly #messages: Uint8Array[] = []

  constructor(connection: pg.Connection, needsDescribe: boolean) {
    const prepared = connection as pg.Connection & PreparedStatements // the types omit these fields
    this.parsedStatements = prepared.parsedStatements
    this.submittedNamedStatements = prepared.submittedNamedStatements
    this.#needsDescribe = needsDescribe
    this.#stream = connection.stream
  }

  add(message: Uint8Array) {
    this.#messages.push(message)
  }

  /** The server has to describe the rows of a statement that it parses for the first time. */
  parse(query: Parameters<typeof serialize.parse>[0]) {
    this.#needsDescribe = true
    this.add(serialize.parse(query))
  }

  bind(values: Parameters<typeof serialize.bind>[0]) {
    this.add(serialize.bind(values))
  }

  describe(target: Parameters<typeof serialize.describe>[0]) {
    if (!this.#needsDescribe) return
    this.hasDescribe = true
    this.add(serialize.describe(target))
  }

  execute(target: Parameters<typeof serialize.execute>[0]) {
    this.add(serialize.execute(target))
  }

  close(target: Parameters<typeof serialize.close>[0]) {
    this.add(serialize.close(target))
  }

  sync() {
    this.add(serialize.sync())
  }

  flush() {
    if (this.#stream.writable) this.#stream.write(Buffer.concat(this.#messages))
  }
}

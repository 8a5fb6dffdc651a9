import type pg from "pg"
import { serialize } from "pg-protocol"
import type { StatementGuard } from "../../concurrency/RequestShare.ts"
import type { SettingsShape } from "../../config/Settings.ts"
import { isGuardRejection } from "./StatementGuard.ts"
import { isStalePlan } from "./TransientErrors.ts"
import { toParameter, typeParserOf } from "./Values.ts"

export type QueryCallback = (error: Error | undefined, result?: pg.QueryResult) => void

export interface NamedGuard {
  readonly guard: StatementGuard
  readonly name: string
}

/** Which of BEGIN and COMMIT to send with a query, and what to have confirmed before. */
export interface TransactionBoundary {
  readonly begins: boolean
  readonly commits: boolean
  readonly guard: NamedGuard | undefined
}

/** The name under which a connection keeps a statement prepared: empty for the unnamed one, none if it is not prepared. */
export type StatementNames = (text: string) => string | undefined

/** Statement texts are few and constant. Beyond this limit, statements stay unnamed, which bounds the plans of the server. */
const maxStatementNames = 500

/** The names of the statements of one pool. */
export const makeStatementNames = (naming: SettingsShape["DATABASE_STATEMENTS"]): StatementNames => {
  if (naming === "unnamed") return () => ""
  const names = new Map<string, string>()
  return (text) => {
    const known = names.get(text)
    if (known !== undefined || names.size >= maxStatementNames) return known
    const name = `s${names.size}`
    names.set(text, name)
    return name
  }
}

/** How to read the rows of a statement. */
interface RowReader {
  readonly names: ReadonlyArray<string>
  readonly parsers: ReadonlyArray<(text: string) => unknown>
  /** A copy gives all rows the same hidden class. */
  readonly emptyRow: Readonly<Record<string, unknown>>
}

const noColumns: RowReader = { names: [], parsers: [], emptyRow: {} }

/** The statements that are prepared on a connection, by name. */
const preparedStatements = new WeakMap<pg.Connection, Map<string, RowReader>>()

const statementsOf = (connection: pg.Connection) => {
  const known = preparedStatements.get(connection)
  if (known !== undefined) return known
  const statements = new Map<string, RowReader>()
  preparedStatements.set(connection, statements)
  return statements
}

const runUnnamed = (text: string) => Buffer.concat([serialize.parse({ text }), serialize.bind(), serialize.execute()])
const beginMessages = runUnnamed("BEGIN")
const commitMessages = runUnnamed("COMMIT")
const executeMessage = Buffer.from(serialize.execute())
const syncMessage = Buffer.from(serialize.sync())
const describeMessage = Buffer.from(serialize.describe({ type: "P" }))

interface RowDescription {
  readonly fields: ReadonlyArray<{ readonly name: string; readonly dataTypeID: number }>
}

const toRowReader = ({ fields }: RowDescription): RowReader => ({
  names: fields.map(({ name }) => name),
  parsers: fields.map(({ dataTypeID }) => typeParserOf(dataTypeID)),
  emptyRow: Object.fromEntries(fields.map(({ name }) => [name, null]))
})

/**
 * A prepared statement in one write to the server, together with BEGIN and COMMIT if it opens or closes a transaction:
 * each would otherwise cost a round trip, and the transaction would keep its locks that much longer. The driver's own
 * query also asks for the description of the rows each time, which costs both sides more than reading a row. This class
 * asks once per connection. It implements the driver's interface for custom queries, as pg-cursor does.
 */
export class PreparedQuery implements pg.Submittable {
  /** The driver replaces it, to stop the timer of its query timeout. */
  callback: (error: Error | null, result?: pg.QueryResult) => void
  readonly #name: string
  readonly #text: string
  readonly #values: ReadonlyArray<unknown>
  readonly #boundary: TransactionBoundary
  /** The commands before the statement. */
  readonly #leadingCommands: number
  readonly #rows: Array<Record<string, unknown>> = []
  #statements: Map<string, RowReader> | undefined
  #reader: RowReader | undefined
  #completedCommands = 0
  #commandTag = ""
  #parseError: Error | undefined

  constructor(
    { name, text, values }: { readonly name: string; readonly text: string; readonly values: ReadonlyArray<unknown> },
    boundary: TransactionBoundary,
    done: QueryCallback
  ) {
    this.#name = name
    this.#text = text
    this.#values = values
    this.#boundary = boundary
    this.#leadingCommands = (boundary.guard === undefined ? 0 : 1) + (boundary.begins ? 1 : 0)
    this.callback = (error, result) => done(error ?? undefined, result)
  }

  /** Returns the error of a value that cannot be sent, before anything is sent. */
  submit(connection: pg.Connection): Error | null {
    // The server forgets the unnamed statement, whose name is empty.
    if (this.#name !== "") this.#statements = statementsOf(connection)
    this.#reader = this.#statements?.get(this.#name)
    try {
      connection.stream.write(Buffer.concat(this.#messages()))
      return null
    } catch (error) {
      return error instanceof Error ? error : new Error("A value cannot be sent", { cause: error })
    }
  }

  #messages() {
    const { begins, commits, guard } = this.#boundary
    const isPrepared = this.#reader !== undefined
    const messages: Array<Uint8Array> = []
    if (guard !== undefined) this.#pushGuard(messages, guard)
    if (begins) messages.push(beginMessages)
    // An earlier attempt may have prepared the statement and failed afterwards.
    if (!isPrepared) {
      if (this.#name !== "") messages.push(serialize.close({ type: "S", name: this.#name }))
      messages.push(serialize.parse({ name: this.#name, text: this.#text }))
    }
    messages.push(serialize.bind({ statement: this.#name, values: this.#values.map(toParameter) }))
    if (!isPrepared) messages.push(describeMessage)
    messages.push(executeMessage)
    if (commits) messages.push(commitMessages)
    messages.push(syncMessage)
    return messages
  }

  #pushGuard(messages: Array<Uint8Array>, { guard, name }: NamedGuard) {
    // The unnamed statement can be another one by now.
    if (name === "" || this.#statements?.has(name) !== true) {
      if (name !== "") messages.push(serialize.close({ type: "S", name }))
      messages.push(serialize.parse({ name, text: guard.text }))
    }
    messages.push(serialize.bind({ statement: name, values: guard.values.map(toParameter) }), executeMessage)
  }

  handleRowDescription(description: RowDescription) {
    this.#reader = toRowReader(description)
  }

  handleDataRow({ fields }: { readonly fields: ReadonlyArray<string | null> }) {
    if (this.#completedCommands < this.#leadingCommands) return
    const { emptyRow, names, parsers } = this.#reader ?? noColumns
    const row: Record<string, unknown> = { ...emptyRow }
    try {
      for (let index = 0; index < names.length; index++) {
        const text = fields[index]
        if (text != null) row[names[index] as string] = parsers[index]?.(text)
      }
      this.#rows.push(row)
    } catch (error) {
      this.#parseError = error instanceof Error ? error : new Error("A row cannot be parsed", { cause: error })
    }
  }

  /** The guard, BEGIN and COMMIT complete as well; only the statement itself has a result. */
  handleCommandComplete({ text }: { readonly text: string }) {
    const { guard } = this.#boundary
    if (guard !== undefined && this.#completedCommands === 0) guard.guard.state = "confirmed"
    if (this.#completedCommands++ === this.#leadingCommands) this.#commandTag = text
  }

  handleReadyForQuery() {
    const { guard } = this.#boundary
    if (guard !== undefined) this.#statements?.set(guard.name, noColumns)
    this.#statements?.set(this.#name, this.#reader ?? noColumns)
    if (this.#parseError !== undefined) return this.callback(this.#parseError)
    const [command = "", ...counts] = this.#commandTag.split(" ")
    this.callback(null, { command, rowCount: Number(counts.at(-1)), rows: this.#rows, oid: 0, fields: [] })
  }

  handleError(error: Error) {
    if (isStalePlan(error)) this.#statements?.delete(this.#name)
    const { guard } = this.#boundary
    if (guard !== undefined && isGuardRejection(error)) guard.guard.state = "rejected"
    this.callback(error)
  }

  handleEmptyQuery() {}

  handlePortalSuspended() {}
}

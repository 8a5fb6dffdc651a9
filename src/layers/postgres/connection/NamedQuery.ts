import pg from "pg"
import { MessageBuffer } from "./MessageBuffer.ts"

/** The driver's parsed RowDescription; its types omit all of this. */
interface RowDescription {
  fields: ReadonlyArray<object>
  _parsers: unknown
  _prebuiltEmptyResultObject: unknown
}

interface QueryInternals {
  readonly _result: RowDescription
  _accumulateRows: boolean
}

const driverMethod = <F>(method: string): F => Reflect.get(pg.Query.prototype, method)
const driverPrepare = driverMethod<(this: pg.Query, buffer: MessageBuffer) => void>("prepare")
const driverHandleReadyForQuery = driverMethod<(this: pg.Query, connection: unknown) => void>("handleReadyForQuery")

/** Client-side timeout, for a server that is unreachable and cannot enforce its own timeouts. The driver's types omit it. */
export const queryTimeoutOptions = { query_timeout: 17_000 }

export type DriverCallback = (error: Error | null | undefined, result: pg.QueryResult) => void

/** By statement name, including empty descriptions of statements that return no rows. */
const rowDescriptions = new Map<string, RowDescription>()

/**
 * A prepared statement. The driver requests a RowDescription for every execution, although it is always the same and
 * costs both sides time. This class requests it once per connection.
 */
export class NamedQuery extends pg.Query {
  /** Declared by the driver. */
  declare name: string | undefined
  readonly query_timeout = queryTimeoutOptions.query_timeout
  private isDescribed = false

  constructor({ name, text, values }: pg.QueryConfig, settle: DriverCallback) {
    // A config object would be copied property by property. Cast because the driver's types expect a result builder in
    // the callback, where it passes the result.
    super(text, values, settle as never)
    this.name = name
  }

  /** Cast because the driver's types omit these fields. */
  private internals() {
    return this as unknown as QueryInternals
  }

  /** Adds the messages to the buffer. */
  protected write(buffer: MessageBuffer) {
    driverPrepare.call(this, buffer)
  }

  /** The driver calls this to send the query. */
  prepare(connection: pg.Connection) {
    const description = rowDescriptions.get(this.name ?? "")
    const buffer = new MessageBuffer(connection, description === undefined)
    this.write(buffer)
    buffer.flush()
    this.isDescribed = buffer.hasDescribe
    if (description === undefined || this.isDescribed) return
    const internals = this.internals()
    const { _result: result } = internals
    result.fields = description.fields
    result._parsers = description._parsers
    result._prebuiltEmptyResultObject = description._prebuiltEmptyResultObject
    internals._accumulateRows = true
  }

  /** The driver calls this after success. */
  handleReadyForQuery(connection: unknown) {
    if (this.isDescribed && this.name !== undefined) {
      const { _parsers, _prebuiltEmptyResultObject, fields } = this.internals()._result
      rowDescriptions.set(this.name, { fields, _parsers, _prebuiltEmptyResultObject })
    }
    driverHandleReadyForQuery.call(this, connection)
  }
}

import pg from "pg"
import { Letter } from "./Letter.ts"

/** What the driver makes of a description of rows; its types leave all of this out. */
interface Description {
  fields: ReadonlyArray<object>
  _parsers: unknown
  _prebuiltEmptyResultObject: unknown
}

interface Inside {
  readonly _result: Description
  _accumulateRows: boolean
}

const ofDriver = <F>(method: string): F => Reflect.get(pg.Query.prototype, method)
const prepare = ofDriver<(this: pg.Query, letter: Letter) => void>("prepare")
const finish = ofDriver<(this: pg.Query, connection: unknown) => void>("handleReadyForQuery")

/** For a server that no longer answers at all, and so does not keep the limits it was given; the types leave it out. */
export const patience = { query_timeout: 17_000 }

export type Settle = (error: Error | null | undefined, result: pg.QueryResult) => void

/** The descriptions by the names of the statements, empty ones of those without rows included. */
const known = new Map<string, Description>()

/**
 * A prepared statement. The driver has its rows described whenever it runs, which PostgreSQL does in the same words each
 * time and both sides spend a while on: here that is done once for each connection.
 */
export class NamedQuery extends pg.Query {
  /** The driver's own. */
  declare name: string | undefined
  readonly query_timeout = patience.query_timeout
  private isDescribed = false

  constructor({ name, text, values }: pg.QueryConfig, settle: Settle) {
    // Given all at once, the driver would copy it property by property. Its types call the result a builder; by the time
    // it is handed over it is built.
    super(text, values, settle as never)
    this.name = name
  }

  /** Cast because the driver's types leave out what it keeps of a result while the rows come. */
  private inside() {
    return this as unknown as Inside
  }

  /** The messages to the server. */
  protected write(letter: Letter) {
    prepare.call(this, letter)
  }

  /** Called by the driver to send them. */
  prepare(connection: pg.Connection) {
    const description = known.get(this.name ?? "")
    const letter = new Letter(connection, description === undefined)
    this.write(letter)
    letter.post()
    this.isDescribed = letter.isAskedToDescribe
    if (description === undefined || this.isDescribed) return
    const inside = this.inside()
    const { _result: result } = inside
    result.fields = description.fields
    result._parsers = description._parsers
    result._prebuiltEmptyResultObject = description._prebuiltEmptyResultObject
    inside._accumulateRows = true
  }

  /** Called by the driver when all went well. */
  handleReadyForQuery(connection: unknown) {
    if (this.isDescribed && this.name !== undefined) {
      const { _parsers, _prebuiltEmptyResultObject, fields } = this.inside()._result
      known.set(this.name, { fields, _parsers, _prebuiltEmptyResultObject })
    }
    finish.call(this, connection)
  }
}

import pg from "pg"

/** What the driver makes of a description of rows; its types leave all of this out. */
interface Description {
  fields: ReadonlyArray<object>
  _parsers: unknown
  _prebuiltEmptyResultObject: unknown
}

interface Inside {
  readonly name?: string
  readonly _result: Description
  _accumulateRows: boolean
}

const describe: (this: pg.Query, message: unknown) => void = Reflect.get(pg.Query.prototype, "handleRowDescription")

const known = new Map<string, Description>()

/**
 * A prepared statement. The server describes its rows each time it runs, and always alike: what the driver makes of that
 * is kept, which costs a good deal more than parsing a row.
 */
export class NamedQuery extends pg.Query {
  handleRowDescription(message: unknown) {
    const inside = this as unknown as Inside // private to the driver
    const { _result: result, name = "" } = inside
    const description = known.get(name)
    if (description === undefined) {
      describe.call(this, message)
      const { _parsers, _prebuiltEmptyResultObject, fields } = result
      if (name !== "") known.set(name, { fields, _parsers, _prebuiltEmptyResultObject })
    } else {
      result.fields = description.fields
      result._parsers = description._parsers
      result._prebuiltEmptyResultObject = description._prebuiltEmptyResultObject
      inside._accumulateRows = true
    }
  }
}

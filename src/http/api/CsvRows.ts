import { Context, Schema } from "effect"

/** The rows of a response as CSV. */
export interface CsvRows {
  readonly fields: ReadonlyArray<string>
  /** The rows of the `data` of the response. */
  readonly toRows: (data: unknown) => ReadonlyArray<object>
}

/** The CSV form of an operation that returns no list. Lists have one without it. */
export class CsvForm extends Context.Reference<CsvForm>()("http/CsvForm", {
  defaultValue: (): CsvRows | undefined => undefined
}) {}

export const csvRows = <A, I>(
  schema: Schema.Schema<A, I>,
  fields: ReadonlyArray<string>,
  toRows: (value: A) => ReadonlyArray<object>
): CsvRows => {
  const decode = Schema.decodeUnknownSync(schema)
  return { fields, toRows: (data) => toRows(decode(data)) }
}

import { Context } from "effect"

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

/** Makes the CSV form of an operation that returns an A. */
export const csvRows = <A>(fields: ReadonlyArray<string>, toRows: (value: A) => ReadonlyArray<object>): CsvRows => ({
  fields,
  toRows: (data) => toRows(data as A) // what the operation has returned; decoding it again takes as long as the rest
})

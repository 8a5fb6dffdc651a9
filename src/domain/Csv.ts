/** A spreadsheet runs a cell that starts like this as a formula, full-width characters included. */
const formulaStart = /^[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/

/** The text of a value. An apostrophe makes a spreadsheet show a text that looks like a formula. */
const toText = (value: unknown) => {
  if (value === undefined || value === null) return ""
  if (typeof value === "string") return formulaStart.test(value) ? `'${value}` : value
  return typeof value === "object" ? JSON.stringify(value) : String(value)
}

const toCell = (value: unknown) => {
  const text = toText(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** A line of a CSV file (RFC 4180). */
export const csvLine = (values: ReadonlyArray<unknown>) => `${values.map(toCell).join(",")}\r\n`

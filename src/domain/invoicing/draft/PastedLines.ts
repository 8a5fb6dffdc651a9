import { parseAmount, parseNumber } from "../../money/AmountParser.ts"

/** The columns of a line that can be pasted from a spreadsheet, in their order. */
export const pastedColumns = ["name", "quantity", "amountMinor", "discountPercent"] as const
export type PastedColumn = (typeof pastedColumns)[number]

/** Splits what a spreadsheet copies: tabs between cells, quotes around cells with line breaks. */
export const parseCells = (text: string): ReadonlyArray<ReadonlyArray<string>> => {
  const rows: Array<Array<string>> = [[""]]
  let isQuoted = false
  const append = (character: string) => {
    const row = rows.at(-1) ?? []
    row.push((row.pop() ?? "") + character)
  }
  const source = text.replaceAll(/\r\n?/g, "\n")
  for (let index = 0; index < source.length; index++) {
    const character = source[index] ?? ""
    const isCellStart = rows.at(-1)?.at(-1) === ""
    if (character === '"' && isQuoted && source[index + 1] === '"') {
      append('"')
      index++
    } else if (character === '"' && (isQuoted || isCellStart)) isQuoted = !isQuoted
    else if (character === "\t" && !isQuoted) rows.at(-1)?.push("")
    else if (character === "\n" && !isQuoted) rows.push([""])
    else append(character)
  }
  return rows.filter((row) => row.some((cell) => cell.trim() !== ""))
}

export interface PastedLine {
  readonly name?: string
  readonly quantity?: number
  readonly amountMinor?: number
  readonly discountPercent?: number
}

const valueOf = (column: PastedColumn, cell: string, currencyCode: string) => {
  if (column === "name") return cell.replaceAll(/\s+/g, " ").trim()
  if (column === "amountMinor") return parseAmount(cell, currencyCode)
  const number = parseNumber(cell.replace(/%\s*$/, ""))
  return number === undefined ? undefined : Number(number)
}

/** Lines from a clipboard, whose first cell belongs to `firstColumn`. Cells that are no number are left out. */
export const parsePastedLines = (
  text: string,
  firstColumn: PastedColumn,
  currencyCode: string
): ReadonlyArray<PastedLine> => {
  const columns = pastedColumns.slice(pastedColumns.indexOf(firstColumn))
  return parseCells(text).map((cells) =>
    Object.fromEntries(
      columns.flatMap((column, index) => {
        const cell = cells[index]
        const value = cell === undefined || cell.trim() === "" ? undefined : valueOf(column, cell, currencyCode)
        return value === undefined ? [] : [[column, value]]
      })
    )
  )
}

import type { LineToCredit } from "../../../domain/creditNotes/CreditTotals.ts"
import { parseAmount, parseNumber } from "../../../domain/money/AmountParser.ts"
import { type CreditedLine, netOfQuantity, quantityAfter } from "../../../domain/money/CreditArithmetic.ts"
import { formatDecimal } from "../../../domain/money/Decimal.ts"
import { api, readAll, type Schemas } from "../../api/client.ts"

type Billable = Schemas["Billable"]

/** A line of an issued invoice, and what credit notes have credited of it. */
export interface CreditableLine extends CreditedLine {
  readonly line: Billable
}

/** The ways to say what a note credits. */
export type CreditMode = "full" | "quantity" | "amount"

const addNote = (credited: CreditableLine, { amountMinor, quantity }: Schemas["CreditNote"]["lines"][number]) => ({
  ...credited,
  creditedMinor: credited.creditedMinor + amountMinor,
  creditedQuantity:
    quantity === undefined ? credited.creditedQuantity : formatDecimal(quantityAfter(credited, quantity))
})

/** The lines of an invoice with what is credited of each. A note over everything leaves nothing. */
export const readCreditable = async (invoiceId: string, lines: ReadonlyArray<Billable>) => {
  const notes = await readAll((cursor) =>
    api.GET("/api/v1/credit-notes", {
      params: { query: { invoiceId, status: "FINALIZED", ...(cursor && { cursor }) } }
    })
  )
  const isCreditedInFull = notes.some(({ full }) => full)
  const credited = new Map(
    lines.map((line): [string, CreditableLine] => {
      const { lineTotalMinor, quantity } = line
      const start = isCreditedInFull
        ? { creditedQuantity: String(quantity), creditedMinor: lineTotalMinor }
        : { creditedQuantity: "0", creditedMinor: 0 }
      return [line.id, { line, quantity, lineTotalMinor, ...start }]
    })
  )
  if (!isCreditedInFull)
    for (const part of notes.flatMap((note) => note.lines)) {
      const known = credited.get(part.billable)
      if (known !== undefined) credited.set(part.billable, addNote(known, part))
    }
  return [...credited.values()]
}

export const leftOf = ({ creditedMinor, lineTotalMinor }: CreditedLine) => lineTotalMinor - creditedMinor

interface RequestLine {
  readonly billableId: string
  readonly quantity?: number
  readonly amountMinor?: number
}

/** A line of the request, from the text of its input. Text that is no number is sent as one that the service rejects. */
export const toRequestLine = ({ line }: CreditableLine, mode: CreditMode, text: string): RequestLine => ({
  billableId: line.id,
  ...(mode === "quantity"
    ? { quantity: Number(parseNumber(text) ?? Number.NaN) }
    : { amountMinor: parseAmount(text, line.currencyCode) ?? Number.NaN })
})

/** What a note with these texts credits of each line. */
export const toCredit = (
  lines: ReadonlyArray<CreditableLine>,
  mode: CreditMode,
  texts: ReadonlyMap<string, string>
): ReadonlyArray<LineToCredit> =>
  lines.map((credited) => {
    const { creditedMinor, line, lineTotalMinor } = credited
    const { amountMinor = 0, quantity } = toRequestLine(credited, mode, texts.get(line.id) ?? "")
    const wanted =
      mode === "full" ? leftOf(credited) : quantity === undefined ? amountMinor : netOfQuantity(credited, quantity || 0)
    return { taxRates: line.taxRates, lineTotalMinor, creditedMinor, amountMinor: wanted || 0 }
  })

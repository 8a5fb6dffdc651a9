import { type CreditedLine, netOfQuantity, quantityAfter } from "../../src/domain/money/CreditArithmetic.ts"
import { compareDecimals, toDecimal } from "../../src/domain/money/Decimal.ts"
import { validationError } from "./apiError.ts"
import type { CreditLine, CreditNoteRow } from "./creditNote.ts"
import { loadCredits } from "./creditNoteStatements.ts"
import type { InvoiceRow } from "./invoice.ts"
import { sumExactly } from "./money.ts"
import type { Connection } from "./transaction.ts"

interface CreditableLine extends CreditedLine {
  readonly id: string
}

/** What is credited of the lines without taxes. */
interface CreditedSet {
  readonly taxRates: ReadonlyArray<string>
  readonly netMinor: number
  readonly lineCount: number
}

interface CreditsRow {
  readonly credited: ReadonlyArray<CreditedSet> | null
  readonly lines: ReadonlyArray<CreditableLine>
}

const isBeyond = (line: CreditableLine, quantity: number) =>
  compareDecimals(quantityAfter(line, quantity), toDecimal(line.quantity)) > 0

const creditLine = (wanted: CreditLine, line: CreditableLine | undefined) => {
  if (line === undefined) throw validationError(`${wanted.billable} is not a line of the invoice`)
  const { quantity } = wanted
  const amountMinor = quantity === undefined ? wanted.amountMinor : netOfQuantity(line, quantity)
  const leftMinor = line.lineTotalMinor - line.creditedMinor
  if ((quantity ?? amountMinor) <= 0 || amountMinor > leftMinor || (quantity !== undefined && isBeyond(line, quantity)))
    throw validationError(`${leftMinor} is left of ${line.id}`)
  return { credit: { ...wanted, amountMinor }, isComplete: amountMinor === leftMinor }
}

const noCredit: CreditedSet = { taxRates: [], netMinor: 0, lineCount: 0 }

/** What a note credits of a locked invoice now. Covers what is seeded: lines of positive amounts, no taxes or discounts. */
export const creditInvoice = async (
  connection: Connection,
  tenant: string,
  invoice: InvoiceRow,
  { lines }: CreditNoteRow
) => {
  const ids = JSON.stringify(lines.map(({ billable }) => billable))
  const { rows } = await connection.query<CreditsRow>({ ...loadCredits, values: [tenant, invoice.id, ids] })
  if (invoice.status !== "FINALIZED" && invoice.status !== "PAID") throw validationError(`invoice is ${invoice.status}`)
  const linesById = new Map((rows[0]?.lines ?? []).map((line) => [line.id, line]))
  const [before = noCredit] = rows[0]?.credited ?? []
  const credits = lines.map((line) => creditLine(line, linesById.get(line.billable)))
  const netMinor = sumExactly(...credits.map(({ credit }) => credit.amountMinor))
  if (netMinor === undefined || netMinor <= 0 || before.netMinor + netMinor > invoice.subtotalMinor)
    throw validationError("lines must credit more than 0, and at most what is left of the invoice")
  const completed = credits.flatMap(({ credit, isComplete }) => (isComplete ? [credit.billable] : []))
  return {
    lines: credits.map(({ credit }) => credit),
    netMinor,
    completed,
    before: [before],
    after: [{ ...before, netMinor: before.netMinor + netMinor, lineCount: before.lineCount + completed.length }]
  }
}

export type Credit = Awaited<ReturnType<typeof creditInvoice>>

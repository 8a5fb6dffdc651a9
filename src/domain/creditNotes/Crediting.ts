import { Either } from "effect"
import { type ErrorDetail, fieldError, requireNoErrors, type ValidationError } from "../Errors.ts"
import { allTaxSets, sameTaxSet, type TaxSet } from "../invoicing/draft/TaxSets.ts"
import type { Invoice } from "../invoicing/Invoice.ts"
import { netOf } from "../invoicing/InvoiceTotals.ts"
import { type CreditedLine, netOfQuantity, quantityAfter } from "../money/CreditArithmetic.ts"
import { compareDecimals, formatDecimal, subtractDecimal, toDecimal } from "../money/Decimal.ts"
import type { InvoiceAmounts } from "../money/InvoiceArithmetic.ts"
import type { CreditLine, CreditNote, NewCreditLine } from "./CreditNote.ts"
import { addCredits, alignWith, type NoteAmounts, noteAmounts } from "./CreditTotals.ts"

/** An issued invoice, and what is credited of it so far. */
export interface CreditableInvoice {
  readonly invoice: Pick<
    Invoice,
    "status" | "taxes" | "discountMinor" | "subtotalMinor" | "billableCount" | "totalMinor"
  >
  /** The stored tax sets of the invoice. */
  readonly taxSets: ReadonlyArray<TaxSet>
  /** What is credited of each tax set. `lineCount` counts the lines that are credited in full. */
  readonly credited: ReadonlyArray<TaxSet>
}

export interface CreditableLine extends CreditedLine {
  readonly id: CreditLine["billable"]
  readonly taxRates: ReadonlyArray<string>
}

/** What a note is to credit: everything that is left, or lines. */
export type CreditContent =
  | { readonly full: true }
  | { readonly full: false; readonly lines: ReadonlyArray<CreditLine> }

/** What a note credits. */
export interface Credit {
  readonly lines: ReadonlyArray<CreditLine>
  readonly amounts: InvoiceAmounts
  /** What is credited of each tax set before and with the note. */
  readonly before: ReadonlyArray<TaxSet>
  readonly after: ReadonlyArray<TaxSet>
  /** The lines that are credited in full with the note. Undefined for all lines of the invoice. */
  readonly completed: ReadonlyArray<string> | undefined
}

/** Fails unless the invoice is issued. */
export const requireCreditable = ({ status }: CreditableInvoice["invoice"]): Either.Either<void, ValidationError> =>
  status === "FINALIZED" || status === "PAID"
    ? Either.void
    : Either.left(fieldError("invoiceId", "state", `is ${status}; only a FINALIZED or PAID invoice can be credited`))

/** An error of a value that must lie between 0 and what is left, which has the sign of the line. */
const rangeErrors = (
  field: string,
  value: string,
  left: string,
  [sign, excess]: readonly [sign: number, excess: number]
): ReadonlyArray<ErrorDetail> => {
  const isNegative = left.startsWith("-")
  if (left === "0")
    return [{ field, constraint: "max", message: "must be left out: the line is credited in full already" }]
  if (sign !== (isNegative ? -1 : 1))
    return [
      {
        field,
        constraint: isNegative ? "max" : "min",
        message: `must be ${isNegative ? "below" : "above"} 0, like what is left of the line, but is ${value}`
      }
    ]
  return excess <= 0
    ? []
    : [
        {
          field,
          constraint: isNegative ? "min" : "max",
          message: `must be at ${isNegative ? "least" : "most"} ${left}, what is left of the line, but is ${value}`
        }
      ]
}

const quantityErrors = (field: string, line: CreditableLine, quantity: number) => {
  const left = subtractDecimal(toDecimal(line.quantity), toDecimal(line.creditedQuantity))
  const wanted = toDecimal(quantity)
  const comparison = compareDecimals(wanted, left)
  return rangeErrors(field, formatDecimal(wanted), formatDecimal(left), [
    Math.sign(quantity),
    left.digits < 0n ? -comparison : comparison
  ])
}

const amountErrors = (field: string, line: CreditableLine, amountMinor: number) => {
  const left = line.lineTotalMinor - line.creditedMinor
  return rangeErrors(field, String(amountMinor), String(left), [
    Math.sign(amountMinor),
    left < 0 ? left - amountMinor : amountMinor - left
  ])
}

/** The net amount by quantity can exceed what is left after a credit by amount. */
const netErrors = (field: string, line: CreditableLine, netMinor: number): ReadonlyArray<ErrorDetail> => {
  const left = line.lineTotalMinor - line.creditedMinor
  return Math.abs(netMinor) <= Math.abs(left)
    ? []
    : [{ field, constraint: "max", message: `would credit ${netMinor}, more than ${left}, what is left of the line` }]
}

interface LineCredit {
  readonly line: CreditableLine
  readonly credit: CreditLine
  readonly isComplete: boolean
}

const creditLine = (
  path: string,
  wanted: CreditLine,
  line: CreditableLine | undefined
): Either.Either<LineCredit, ReadonlyArray<ErrorDetail>> => {
  if (line === undefined)
    return Either.left([{ field: `${path}.billableId`, constraint: "exists", message: "is not a line of the invoice" }])
  const { quantity } = wanted
  const amountMinor = quantity === undefined ? wanted.amountMinor : netOfQuantity(line, quantity)
  const errors =
    quantity === undefined
      ? amountErrors(`${path}.amountMinor`, line, amountMinor)
      : [
          ...quantityErrors(`${path}.quantity`, line, quantity),
          ...netErrors(`${path}.quantity`, line, amountMinor)
        ].slice(0, 1)
  if (errors.length > 0) return Either.left(errors)
  const isNetComplete = line.creditedMinor + amountMinor === line.lineTotalMinor
  const isQuantityComplete =
    quantity !== undefined && compareDecimals(quantityAfter(line, quantity), toDecimal(line.quantity)) === 0
  const isComplete = isNetComplete && (line.lineTotalMinor !== 0 || isQuantityComplete)
  return Either.right({ line, credit: { ...wanted, amountMinor }, isComplete })
}

/** Credits of all lines, or all errors of all lines. */
const creditLines = (wanted: ReadonlyArray<CreditLine>, lines: ReadonlyMap<string, CreditableLine>) => {
  const credits = wanted.map((line, index) => creditLine(`lines[${index}]`, line, lines.get(line.billable)))
  const errors = credits.flatMap((credit) => (Either.isLeft(credit) ? credit.left : []))
  return Either.map(requireNoErrors(errors), () =>
    credits.flatMap((credit) => (Either.isRight(credit) ? credit.right : []))
  )
}

const addLines = (before: ReadonlyArray<TaxSet>, credits: ReadonlyArray<LineCredit>): ReadonlyArray<TaxSet> =>
  addCredits(
    before,
    credits.map(({ credit: { amountMinor }, line }) => ({ line, amountMinor }))
  ).map((set) => ({
    ...set,
    lineCount: set.lineCount + credits.filter(({ isComplete, line }) => isComplete && sameTaxSet(set, line)).length
  }))

/** Lines with the same taxes cannot be credited beyond their sum: that would charge for others. */
const setErrors = (sets: ReadonlyArray<TaxSet>, after: ReadonlyArray<TaxSet>): ReadonlyArray<ErrorDetail> =>
  sets.flatMap(({ netMinor }, index): ReadonlyArray<ErrorDetail> => {
    const credited = after[index]?.netMinor ?? 0
    return credited >= Math.min(netMinor, 0) && credited <= Math.max(netMinor, 0)
      ? []
      : [
          {
            field: "lines",
            constraint: credited > 0 ? "max" : "min",
            message: `would credit ${credited} of lines with the same taxes that come to ${netMinor}; credit the others of them as well`
          }
        ]
  })

/** All notes of an invoice together credit at most its net. Lines with other taxes can have the other sign. */
const invoiceNetErrors = ({ invoice }: CreditableInvoice, { after }: NoteAmounts): ReadonlyArray<ErrorDetail> => {
  const [net, credited] = [netOf(invoice), netOf(after)]
  return credited >= Math.min(net, 0) && credited <= Math.max(net, 0)
    ? []
    : [
        {
          field: "lines",
          constraint: credited > 0 ? "max" : "min",
          message: `would credit a net of ${credited} of an invoice whose net is ${net}; credit others of its lines as well`
        }
      ]
}

/** A note has a total, unless the invoice has none. */
const totalErrors = (totalMinor: number, { invoice }: CreditableInvoice): ReadonlyArray<ErrorDetail> =>
  totalMinor > 0 || (totalMinor === 0 && invoice.totalMinor === 0)
    ? []
    : [{ field: "lines", constraint: "min", message: `must credit more than 0, but come to ${totalMinor}` }]

const outOfRange = fieldError("lines", "max", "would bring the total of the note beyond the exact range")

/** The amounts of a note that brings what is credited from `before` to `after`. */
export const creditNoteAmounts = (
  { invoice, taxSets }: Pick<CreditableInvoice, "invoice" | "taxSets">,
  before: ReadonlyArray<TaxSet>,
  after: ReadonlyArray<TaxSet>
): Either.Either<NoteAmounts, ValidationError> => {
  const amounts = noteAmounts({ invoice, taxSets }, before, after)
  return amounts === undefined ? Either.left(outOfRange) : Either.right(amounts)
}

/** Decides what a note credits now. `lines` has the lines that the content names. */
export const creditInvoice = (
  creditable: CreditableInvoice,
  content: CreditContent,
  lines: ReadonlyMap<string, CreditableLine>
): Either.Either<Credit, ValidationError> =>
  Either.gen(function* () {
    const { credited, invoice, taxSets } = creditable
    yield* requireCreditable(invoice)
    const sets = allTaxSets(taxSets, invoice)
    const before = alignWith(sets, credited)
    const isCreditedInFull = before.every(({ lineCount }, index) => lineCount === sets[index]?.lineCount)
    if (isCreditedInFull)
      return yield* Either.left(
        fieldError("invoiceId", "state", "is credited in full; nothing of it is left to credit")
      )
    const credits = content.full ? [] : yield* creditLines(content.lines, lines)
    const after = content.full ? sets : addLines(before, credits)
    const amounts = yield* creditNoteAmounts(creditable, before, after)
    const ofSets = setErrors(sets, after)
    yield* requireNoErrors([
      ...(ofSets.length > 0 ? ofSets : invoiceNetErrors(creditable, amounts)),
      ...totalErrors(amounts.note.totalMinor, creditable)
    ])
    return {
      lines: credits.map(({ credit }) => credit),
      amounts: amounts.note,
      before,
      after,
      completed: content.full
        ? undefined
        : credits.flatMap(({ credit, isComplete }) => (isComplete ? credit.billable : []))
    }
  })

/** The lines of a request. The net amount of a line by quantity is computed later. */
export const toCreditLines = (lines: ReadonlyArray<NewCreditLine>): ReadonlyArray<CreditLine> =>
  lines.map(({ amountMinor = 0, billableId, quantity }) => ({
    billable: billableId,
    ...(quantity === undefined ? {} : { quantity }),
    amountMinor
  }))

export const contentOf = ({ full, lines }: Pick<CreditNote, "full" | "lines">): CreditContent =>
  full ? { full } : { full: false, lines }

import { type DraftLine, netOfLine } from "../../../../domain/invoicing/draft/DraftTotals.ts"
import { type PastedColumn, type PastedLine, parsePastedLines } from "../../../../domain/invoicing/draft/PastedLines.ts"
import { parseAmount, parseNumber } from "../../../../domain/money/AmountParser.ts"
import type { Discount } from "../../../../domain/money/InvoiceArithmetic.ts"
import type { Schemas } from "../../../api/client.ts"
import { editableAmount } from "../../../ui/format.ts"

type Billable = Schemas["Billable"]

/** A line in the editor: texts as somebody types them. An edit makes a new object. */
export interface EditedLine {
  readonly key: string
  /** The saved line, unless it is new. */
  readonly base: Billable | undefined
  readonly name: string
  readonly quantity: string
  readonly amount: string
  readonly discount: string
  readonly taxRates: ReadonlyArray<string>
  readonly isRemoved: boolean
  /** What the service rejects, by column. */
  readonly errors: Readonly<Record<string, string>>
}

export const columns = ["name", "quantity", "amount", "discount"] as const
export type Column = (typeof columns)[number]

/** `10%` is a share, anything else an amount. */
export const formatDiscount = (discount: Discount | undefined, currencyCode: string) => {
  if (discount?.percent !== undefined) return `${discount.percent}%`
  return discount?.amountMinor === undefined ? "" : editableAmount(discount.amountMinor, currencyCode)
}

/** Undefined for text that is no discount. An empty text is none. */
export const parseDiscount = (text: string, currencyCode: string): { readonly discount?: Discount } | undefined => {
  const trimmed = text.trim()
  if (trimmed === "") return {}
  if (trimmed.endsWith("%")) {
    const percent = parseNumber(trimmed.slice(0, -1))
    return percent === undefined ? undefined : { discount: { percent: Number(percent) } }
  }
  const amountMinor = parseAmount(trimmed, currencyCode)
  return amountMinor === undefined ? undefined : { discount: { amountMinor } }
}

export const newLine = (taxRates: ReadonlyArray<string>): EditedLine => ({
  // Unique also beside lines that were kept before a reload.
  key: `new-${crypto.randomUUID()}`,
  base: undefined,
  name: "",
  quantity: "1",
  amount: "",
  discount: "",
  taxRates,
  isRemoved: false,
  errors: {}
})

/** A line that nobody has typed into is not saved. */
export const isBlank = ({ amount, base, name }: EditedLine) =>
  base === undefined && name.trim() === "" && amount.trim() === ""

/** What the line costs, with what is wrong with its texts. */
export interface ParsedLine {
  readonly line: DraftLine
  readonly errors: Readonly<Record<string, string>>
}

const parsed = new WeakMap<EditedLine, ParsedLine>()
const changed = new WeakMap<EditedLine, boolean>()

const untouched = new WeakMap<Billable, EditedLine>()

/** A saved line as texts. It is known what they mean, so that ten thousand of them need not be parsed. */
export const toEditedLine = (base: Billable): EditedLine => {
  const known = untouched.get(base)
  if (known !== undefined) return known
  const { amountMinor, currencyCode, discount, id, name, quantity, taxRates } = base
  const created: EditedLine = {
    key: id,
    base,
    name,
    quantity: String(quantity),
    amount: editableAmount(amountMinor, currencyCode),
    discount: formatDiscount(discount, currencyCode),
    taxRates,
    isRemoved: false,
    errors: {}
  }
  parsed.set(created, { line: { quantity, amountMinor, discount, taxRates }, errors: {} })
  changed.set(created, false)
  untouched.set(base, created)
  return created
}

/** Makes and computes a line before the editor shows it: all lines of a long draft at once would block the page. */
export const prepareLine = (base: Billable) => {
  netOfLine(parseLine(toEditedLine(base), base.currencyCode).line)
}

const parse = ({ amount, discount, name, quantity, taxRates }: EditedLine, currencyCode: string): ParsedLine => {
  const [count, amountMinor, given] = [
    parseNumber(quantity),
    parseAmount(amount, currencyCode),
    parseDiscount(discount, currencyCode)
  ]
  return {
    line: { quantity: Number(count ?? 0), amountMinor: amountMinor ?? 0, discount: given?.discount, taxRates },
    errors: {
      ...(name.trim() === "" ? { name: "is required" } : {}),
      ...(count === undefined ? { quantity: "must be a number" } : {}),
      ...(amountMinor === undefined ? { amount: `must be an amount in ${currencyCode}` } : {}),
      ...(given === undefined ? { discount: "must be 10% or an amount" } : {})
    }
  }
}

/** Parses each version of a line once: totals of ten thousand lines change with every key. */
export const parseLine = (line: EditedLine, currencyCode: string) => {
  const known = parsed.get(line)
  if (known !== undefined) return known
  const created = parse(line, currencyCode)
  parsed.set(line, created)
  return created
}

const isSame = (one: unknown, other: unknown) => JSON.stringify(one ?? null) === JSON.stringify(other ?? null)

/** The fields in which a line differs from the saved one, as the API names them. */
export const changeOf = (edited: EditedLine, currencyCode: string) => {
  const { base, name, taxRates } = edited
  if (base === undefined) return {}
  const { amountMinor, discount, quantity } = parseLine(edited, currencyCode).line
  return {
    ...(name === base.name ? {} : { name }),
    ...(quantity === base.quantity ? {} : { quantity }),
    ...(amountMinor === base.amountMinor ? {} : { amountMinor }),
    ...(isSame(discount, base.discount)
      ? {}
      : discount === undefined
        ? { discount: null, discountReason: null }
        : { discount }),
    ...(isSame([...taxRates].sort(), [...base.taxRates].sort()) ? {} : { taxRateIds: [...taxRates] })
  }
}

/** Whether a line differs from the saved one. Compares each version of a line once, as `parseLine` does. */
export const isChanged = (line: EditedLine, currencyCode: string) => {
  const known = changed.get(line)
  if (known !== undefined) return known
  const { base, isRemoved } = line
  const found =
    base === undefined
      ? !isRemoved && !isBlank(line)
      : isRemoved || Object.keys(changeOf(line, currencyCode)).length > 0
  changed.set(line, found)
  return found
}

const textsOf = ({ amount, discount, isRemoved, name, quantity, taxRates }: EditedLine) => [
  name,
  quantity,
  amount,
  discount,
  taxRates,
  isRemoved
]

export const hasSameTexts = (one: EditedLine, other: EditedLine) => isSame(textsOf(one), textsOf(other))

const pastedColumnOf: Readonly<Record<Column, PastedColumn>> = {
  name: "name",
  quantity: "quantity",
  amount: "amountMinor",
  discount: "discountPercent"
}

const applyPasted = (line: EditedLine, pasted: PastedLine, currencyCode: string): EditedLine => ({
  ...line,
  ...(pasted.name === undefined ? {} : { name: pasted.name }),
  ...(pasted.quantity === undefined ? {} : { quantity: String(pasted.quantity) }),
  ...(pasted.amountMinor === undefined ? {} : { amount: editableAmount(pasted.amountMinor, currencyCode) }),
  ...(pasted.discountPercent === undefined ? {} : { discount: `${pasted.discountPercent}%` }),
  errors: {}
})

interface Paste {
  readonly text: string
  /** The cell with the focus. */
  readonly index: number
  readonly column: Column
  readonly currencyCode: string
  readonly taxRates: ReadonlyArray<string>
}

/** Lines after a paste: it fills cells from the one with the focus on, and adds lines below the last one. */
export const pasteLines = (
  lines: ReadonlyArray<EditedLine>,
  { column, currencyCode, index, taxRates, text }: Paste
) => {
  const pasted = parsePastedLines(text, pastedColumnOf[column], currencyCode)
  const after = [...lines]
  pasted.forEach((values, offset) => {
    const line = after[index + offset] ?? newLine(taxRates)
    after[index + offset] = applyPasted(line, values, currencyCode)
  })
  return after
}

/** The column that shows an error of the API. */
const columnOf = (field: string): string => {
  if (field.startsWith("amountMinor")) return "amount"
  if (field.startsWith("taxRateIds")) return "tax"
  return field.startsWith("discount") ? "discount" : field
}

/** Errors by column, of each line by its key. */
export type LineErrors = ReadonlyMap<string, EditedLine["errors"]>

/** Puts errors such as `billables[2].name` to the lines that a request has sent. */
export const errorsOfLines = (
  sent: ReadonlyArray<EditedLine>,
  details: ReadonlyArray<{ readonly field: string; readonly message: string }>
): LineErrors => {
  const found = new Map<string, EditedLine["errors"]>()
  for (const { field, message } of details) {
    const [, index = "0", name = field] = field.match(/^billables\[(\d+)\]\.?(.*)$/) ?? []
    const key = sent[Number(index)]?.key
    if (key !== undefined) found.set(key, { ...found.get(key), [columnOf(name)]: message })
  }
  return found
}

import type { Discount } from "../../../domain/money/InvoiceArithmetic.ts"
import { ApiFailure, api, done, load, read, type Schemas } from "../../api/client.ts"
import { withKey } from "../../api/idempotency.ts"
import { updateListed } from "../../api/update.ts"
import { changeOf, type EditedLine, isBlank, isChanged, parseLine, withErrors } from "./draftLines.ts"

/** The API takes at most this many lines in one request. */
const maxLinesPerRequest = 1000

export interface Draft {
  readonly invoice: Schemas["Invoice"]
  readonly lines: ReadonlyArray<EditedLine>
  readonly discount: Discount | undefined
}

const readLine = (billableId: string) =>
  load(api.GET("/api/v1/billables/{billableId}", { params: { path: { billableId } } }))

const saveLine = async (edited: EditedLine, currencyCode: string) => {
  const { base, isRemoved } = edited
  if (base === undefined) return
  const params = { path: { billableId: base.id } }
  const change = changeOf(edited, currencyCode)
  await updateListed(
    base,
    isRemoved ? {} : change,
    async (headers) => {
      if (isRemoved) await done(api.DELETE("/api/v1/billables/{billableId}", { params, headers }))
      else await read(api.PATCH("/api/v1/billables/{billableId}", { params, body: change, headers }))
      return true
    },
    () => readLine(base.id)
  )
}

const toNewLine = (edited: EditedLine, currencyCode: string) => {
  const { amountMinor, discount, quantity, taxRates } = parseLine(edited, currencyCode).line
  return {
    name: edited.name,
    quantity,
    amountMinor,
    taxRateIds: [...taxRates],
    ...(discount === undefined ? {} : { discount })
  }
}

const addLines = ({ currencyCode, id }: Schemas["Invoice"], lines: ReadonlyArray<EditedLine>) =>
  withKey(`lines of ${id}`, (headers) =>
    read(
      api.POST("/api/v1/billables", {
        body: { invoiceId: id, billables: lines.map((line) => toNewLine(line, currencyCode)) },
        headers
      })
    )
  )

const readHeader = async (invoiceId: string) => {
  const { cursor, etag, value } = await load(
    api.GET("/api/v1/invoices/{invoiceId}", { params: { path: { invoiceId } } })
  )
  return { cursor, etag, value: { discount: value.discount } }
}

const saveDiscount = async ({ discount, invoice }: Draft) => {
  if (JSON.stringify(discount) === JSON.stringify(invoice.discount)) return
  const body = { discount: discount ?? null, ...(discount === undefined ? { discountReason: null } : {}) }
  const write = (headers: { "If-Match": string }) =>
    read(api.PATCH("/api/v1/invoices/{invoiceId}", { params: { path: { invoiceId: invoice.id } }, body, headers }))
  await updateListed({ discount: invoice.discount }, body, write, () => readHeader(invoice.id))
}

/** The lines with the errors that keep the draft from being saved. */
export class RejectedLines extends Error {
  readonly lines: ReadonlyArray<EditedLine>
  constructor(lines: ReadonlyArray<EditedLine>, message: string) {
    super(message)
    this.lines = lines
  }
}

const requireParsed = (lines: ReadonlyArray<EditedLine>, currencyCode: string) => {
  const checked = lines.map((line) =>
    line.isRemoved || isBlank(line) ? line : { ...line, errors: parseLine(line, currencyCode).errors }
  )
  if (checked.some(({ errors }) => Object.keys(errors).length > 0))
    throw new RejectedLines(checked, "Some lines are not complete")
}

const rejecting = async (
  lines: ReadonlyArray<EditedLine>,
  sent: ReadonlyArray<EditedLine>,
  work: () => Promise<unknown>
) => {
  try {
    await work()
  } catch (cause) {
    if (!(cause instanceof ApiFailure) || cause.details.length === 0) throw cause
    const keys = sent.map(({ key }) => key)
    const message = cause.details.map(({ field, message }) => `${field} ${message}`).join(". ")
    throw new RejectedLines(withErrors(lines, keys, cause.details), message)
  }
}

/** Saves what differs from the saved draft: the removed, the changed and the new lines, and the discount. */
export const saveDraft = async (draft: Draft) => {
  const { invoice, lines } = draft
  const { currencyCode } = invoice
  requireParsed(lines, currencyCode)
  for (const line of lines.filter((line) => line.base !== undefined && isChanged(line, currencyCode)))
    await rejecting(lines, [line], () => saveLine(line, currencyCode))
  const added = lines.filter((line) => line.base === undefined && !line.isRemoved && !isBlank(line))
  for (let start = 0; start < added.length; start += maxLinesPerRequest) {
    const batch = added.slice(start, start + maxLinesPerRequest)
    await rejecting(lines, batch, () => addLines(invoice, batch))
  }
  await saveDiscount(draft)
}

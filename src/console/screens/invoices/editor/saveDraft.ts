import { ApiFailure, api, done, load, read, type Schemas } from "../../../api/client.ts"
import { askWhetherToRedo, updateListed } from "../../../api/update.ts"
import {
  changeOf,
  type EditedLine,
  errorsOfLines,
  isBlank,
  isChanged,
  type LineErrors,
  parseDiscount,
  parseLine
} from "./draftLines.ts"
import { createLines, finishPendingLines, maxLinesPerRequest } from "./newLines.ts"
import { type EditedDiscount, noteCreated, type SaveProgress } from "./rebaseLines.ts"

export interface Draft {
  readonly invoice: Schemas["Invoice"]
  readonly lines: ReadonlyArray<EditedLine>
  readonly discount: EditedDiscount
}

const readLine = (billableId: string) =>
  load(api.GET("/api/v1/billables/{billableId}", { params: { path: { billableId } } }))

const writeLine = async (edited: EditedLine, base: Schemas["Billable"], currencyCode: string) => {
  const { isRemoved } = edited
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

const isGone = (cause: unknown) => cause instanceof ApiFailure && cause.status === 404

/** Saves a changed line. The answer is whether to create it again, because another person has deleted it meanwhile. */
const saveLine = async (edited: EditedLine, currencyCode: string) => {
  const { base, isRemoved, name } = edited
  if (base === undefined) return false
  try {
    await writeLine(edited, base, currencyCode)
    return false
  } catch (cause) {
    if (!isGone(cause)) throw cause
    return !isRemoved && askWhetherToRedo(base, [{ field: "line", before: base.name, theirs: "deleted", mine: name }])
  }
}

const readHeader = async (invoiceId: string) => {
  const loaded = await load(api.GET("/api/v1/invoices/{invoiceId}", { params: { path: { invoiceId } } }))
  return { ...loaded, value: { discount: loaded.value.discount } }
}

const saveDiscount = async ({ discount: { base, text }, invoice }: Draft) => {
  const discount = parseDiscount(text, invoice.currencyCode)?.discount
  if (JSON.stringify(discount) === JSON.stringify(base)) return
  const body = { discount: discount ?? null, ...(discount === undefined ? { discountReason: null } : {}) }
  const write = (headers: { "If-Match": string }) =>
    read(api.PATCH("/api/v1/invoices/{invoiceId}", { params: { path: { invoiceId: invoice.id } }, body, headers }))
  await updateListed({ discount: base }, body, write, () => readHeader(invoice.id))
}

/** What keeps the draft from being saved. */
export class RejectedLines extends Error {
  readonly errors: LineErrors
  constructor(errors: LineErrors, message: string) {
    super(message)
    this.errors = errors
  }
}

const requireParsed = (lines: ReadonlyArray<EditedLine>, currencyCode: string) => {
  const errors = lines
    .filter((line) => !line.isRemoved && !isBlank(line))
    .map((line) => [line.key, parseLine(line, currencyCode).errors] as const)
    .filter(([, found]) => Object.keys(found).length > 0)
  if (errors.length > 0) throw new RejectedLines(new Map(errors), "Some lines are not complete")
}

const rejecting = async <A>(sent: ReadonlyArray<EditedLine>, work: () => Promise<A>): Promise<A> => {
  try {
    return await work()
  } catch (cause) {
    if (!(cause instanceof ApiFailure) || cause.details.length === 0) throw cause
    const message = cause.details.map(({ field, message }) => `${field} ${message}`).join(". ")
    throw new RejectedLines(errorsOfLines(sent, cause.details), message)
  }
}

/** Finishes what an earlier save has begun. A rejection of it says nothing about the lines as they are now. */
const finishEarlier = async (invoiceId: string, progress: SaveProgress) => {
  try {
    noteCreated(progress, await finishPendingLines(invoiceId))
  } catch (cause) {
    if (!(cause instanceof ApiFailure) || !cause.isRejection) throw cause
  }
}

/**
 * Saves what differs from the saved draft: the removed, the changed and the new lines, and the discount. `progress` says
 * what the service has taken, also if the save fails in the middle.
 */
export const saveDraft = async (draft: Draft, progress: SaveProgress) => {
  const { currencyCode, id } = draft.invoice
  requireParsed(draft.lines, currencyCode)
  await finishEarlier(id, progress)
  const lines = draft.lines.map((line) => {
    const base = line.base ?? progress.created.get(line.key)
    return base === line.base ? line : { ...line, base }
  })
  const added = lines.filter((line) => line.base === undefined && !line.isRemoved && !isBlank(line))
  for (const line of lines.filter((line) => line.base !== undefined && isChanged(line, currencyCode))) {
    if (await rejecting([line], () => saveLine(line, currencyCode))) added.push(line)
    else progress.sent.set(line.key, line)
  }
  for (let start = 0; start < added.length; start += maxLinesPerRequest) {
    const batch = added.slice(start, start + maxLinesPerRequest)
    noteCreated(progress, await rejecting(batch, () => createLines(id, { currencyCode, lines: batch })))
  }
  await saveDiscount(draft)
  progress.discountText = draft.discount.text
}

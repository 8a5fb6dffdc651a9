import { ApiFailure, api, done, isRejection, load, read, type Schemas } from "../../../api/client.ts"
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
import {
  type CreatedLine,
  createLines,
  finishPendingLines,
  forgetPendingLines,
  maxLinesPerRequest
} from "./newLines.ts"
import { type EditedDiscount, removedMeanwhile, type SavedLine, settleLines } from "./rebaseLines.ts"

export interface Draft {
  readonly invoice: Schemas["Invoice"]
  readonly lines: ReadonlyArray<EditedLine>
  readonly discount: EditedDiscount
}

/** What the service has taken of a save so far. The save may fail in the middle, and somebody may type while it runs. */
export interface SaveProgress {
  readonly lines: Array<SavedLine>
  /** The discount as it was sent, with the one that holds now. */
  discount?: EditedDiscount
}

const readLine = (billableId: string) =>
  load(api.GET("/api/v1/billables/{billableId}", { params: { path: { billableId } } }))

/** Changes or deletes a line. The answer is the line that holds now, also if our change was given up for another's. */
const writeLine = async (edited: EditedLine, base: Schemas["Billable"], currencyCode: string): Promise<SavedLine> => {
  const { isRemoved } = edited
  const params = { path: { billableId: base.id } }
  const change = changeOf(edited, currencyCode)
  const written = await updateListed(
    base,
    isRemoved ? {} : change,
    async (headers) => {
      if (!isRemoved)
        return { saved: await read(api.PATCH("/api/v1/billables/{billableId}", { params, body: change, headers })) }
      await done(api.DELETE("/api/v1/billables/{billableId}", { params, headers }))
      return { saved: undefined }
    },
    () => readLine(base.id)
  )
  return { edited, saved: written === undefined ? (await readLine(base.id)).value : written.saved }
}

const isGone = (cause: unknown) => cause instanceof ApiFailure && cause.status === 404

/** Saves a changed line. No answer means to create it again, because another person has deleted it meanwhile. */
const saveLine = async (edited: EditedLine, base: Schemas["Billable"], currencyCode: string) => {
  const { isRemoved, name } = edited
  try {
    return await writeLine(edited, base, currencyCode)
  } catch (cause) {
    if (!isGone(cause)) throw cause
    const deletion = { field: "line", before: base.name, theirs: "deleted", mine: name }
    const isRedone = !isRemoved && (await askWhetherToRedo(base, [deletion]))
    return isRedone ? undefined : { edited, saved: undefined }
  }
}

const readHeader = async (invoiceId: string) => {
  const loaded = await load(api.GET("/api/v1/invoices/{invoiceId}", { params: { path: { invoiceId } } }))
  return { ...loaded, value: { discount: loaded.value.discount } }
}

/** Saves the discount. The answer is the one that holds now. */
const saveDiscount = async ({ discount: { base, text }, invoice }: Draft): Promise<EditedDiscount> => {
  const discount = parseDiscount(text, invoice.currencyCode)?.discount
  if (JSON.stringify(discount) === JSON.stringify(base)) return { text, base }
  const body = { discount: discount ?? null, ...(discount === undefined ? { discountReason: null } : {}) }
  const write = (headers: { "If-Match": string }) =>
    read(api.PATCH("/api/v1/invoices/{invoiceId}", { params: { path: { invoiceId: invoice.id } }, body, headers }))
  const written = await updateListed({ discount: base }, body, write, () => readHeader(invoice.id))
  return { text, base: (written ?? (await readHeader(invoice.id)).value).discount }
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
const finishEarlier = async (invoiceId: string) => {
  try {
    return await finishPendingLines(invoiceId)
  } catch (cause) {
    if (!isRejection(cause)) throw cause
    return []
  }
}

/** Saves what differs from the saved draft: the removed, the changed and the new lines, and the discount. */
export const saveDraft = async (draft: Draft, progress: SaveProgress) => {
  const { currencyCode, id } = draft.invoice
  const noteCreated = (created: ReadonlyArray<CreatedLine>) => {
    progress.lines.push(...created)
    forgetPendingLines(id, created)
  }
  requireParsed(draft.lines, currencyCode)
  const earlier = await finishEarlier(id)
  noteCreated(earlier)
  const lines = [...settleLines(draft.lines, earlier), ...removedMeanwhile(draft.lines, earlier)]
  const added = lines.filter((line) => line.base === undefined && !line.isRemoved && !isBlank(line))
  for (const line of lines) {
    const { base } = line
    if (base === undefined || !isChanged(line, currencyCode)) continue
    const result = await rejecting([line], () => saveLine(line, base, currencyCode))
    if (result === undefined) added.push(line)
    else progress.lines.push(result)
  }
  for (let start = 0; start < added.length; start += maxLinesPerRequest) {
    const batch = added.slice(start, start + maxLinesPerRequest)
    noteCreated(await rejecting(batch, () => createLines(id, { currencyCode, lines: batch })))
  }
  progress.discount = await saveDiscount(draft)
}

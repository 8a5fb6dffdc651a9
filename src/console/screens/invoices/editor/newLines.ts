import { api, isRejection, read, type Schemas } from "../../../api/client.ts"
import { withKey } from "../../../api/idempotency.ts"
import { type EditedLine, parseLine } from "./draftLines.ts"

type Billable = Schemas["Billable"]

/** The API takes at most this many lines in one request. */
export const maxLinesPerRequest = 1000

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

/** Lines that were sent. The service may have them or not, until `saved` says what they have become. */
interface PendingLines {
  readonly currencyCode: string
  readonly lines: ReadonlyArray<EditedLine>
  readonly saved?: ReadonlyArray<Billable>
}

export interface CreatedLine {
  readonly edited: EditedLine
  readonly saved: Billable
}

const storageName = (invoiceId: string) => `pending-lines:${invoiceId}`

const readPending = (invoiceId: string): PendingLines | undefined => {
  const text = sessionStorage.getItem(storageName(invoiceId))
  return text === null ? undefined : JSON.parse(text)
}

const writePending = (invoiceId: string, pending: PendingLines) =>
  sessionStorage.setItem(storageName(invoiceId), JSON.stringify(pending))

/** Forgets lines when the editor knows what they have become. Others may be on their way meanwhile. */
export const forgetPendingLines = (invoiceId: string, created: ReadonlyArray<CreatedLine>) => {
  const known = readPending(invoiceId)?.saved?.[0]?.id
  if (known !== undefined && known === created[0]?.saved.id) sessionStorage.removeItem(storageName(invoiceId))
}

const postLines = (invoiceId: string, { currencyCode, lines }: PendingLines) =>
  withKey(`lines of ${invoiceId}`, async (headers) => {
    const billables = lines.map((line) => toNewLine(line, currencyCode))
    const saved = await read(api.POST("/api/v1/billables", { body: { invoiceId, billables }, headers }))
    // Before the key is forgotten: without both, the lines would be sent once more.
    writePending(invoiceId, { currencyCode, lines, saved })
    return saved
  })

const finish = async (invoiceId: string): Promise<ReadonlyArray<CreatedLine>> => {
  const pending = readPending(invoiceId)
  if (pending === undefined) return []
  try {
    const created = pending.saved ?? (await postLines(invoiceId, pending))
    return created.flatMap((saved, index) => {
      const edited = pending.lines[index]
      return edited === undefined ? [] : [{ edited, saved }]
    })
  } catch (cause) {
    if (isRejection(cause)) sessionStorage.removeItem(storageName(invoiceId))
    throw cause
  }
}

const finishing = new Map<string, ReturnType<typeof finish>>()

/**
 * Sends lines whose answer was lost again, unchanged and with their key: the service creates them once. Lines that were
 * edited since must not go with the same key, and with another key they would be there twice. A save and a reading of
 * the draft that finish the same lines share one request.
 */
export const finishPendingLines = (invoiceId: string) => {
  const running = finishing.get(invoiceId)
  if (running !== undefined) return running
  const started = finish(invoiceId).finally(() => finishing.delete(invoiceId))
  finishing.set(invoiceId, started)
  return started
}

/** Creates lines of a draft, at most `maxLinesPerRequest`. Earlier ones must be finished. */
export const createLines = (invoiceId: string, pending: PendingLines) => {
  writePending(invoiceId, pending)
  return finishPendingLines(invoiceId)
}

import { ApiFailure, api, read, type Schemas } from "../../../api/client.ts"
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

/** Lines that were sent, and whose answer has not arrived: the service may have them or not. */
interface PendingLines {
  readonly currencyCode: string
  readonly lines: ReadonlyArray<EditedLine>
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

/**
 * Sends lines whose answer was lost again, unchanged and with their key: the service creates them once. Lines that were
 * edited since must not go with the same key, and with another key they would be there twice.
 */
export const finishPendingLines = async (invoiceId: string): Promise<ReadonlyArray<CreatedLine>> => {
  const pending = readPending(invoiceId)
  if (pending === undefined) return []
  const { currencyCode, lines } = pending
  try {
    const created = await withKey(`lines of ${invoiceId}`, (headers) =>
      read(
        api.POST("/api/v1/billables", {
          body: { invoiceId, billables: lines.map((line) => toNewLine(line, currencyCode)) },
          headers
        })
      )
    )
    sessionStorage.removeItem(storageName(invoiceId))
    return created.flatMap((saved, index) => {
      const edited = lines[index]
      return edited === undefined ? [] : [{ edited, saved }]
    })
  } catch (cause) {
    if (cause instanceof ApiFailure && cause.isRejection) sessionStorage.removeItem(storageName(invoiceId))
    throw cause
  }
}

/** Creates lines of a draft, at most `maxLinesPerRequest`. */
export const createLines = (invoiceId: string, pending: PendingLines) => {
  sessionStorage.setItem(storageName(invoiceId), JSON.stringify(pending))
  return finishPendingLines(invoiceId)
}

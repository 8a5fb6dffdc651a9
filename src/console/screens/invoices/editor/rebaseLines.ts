import type { Discount } from "../../../../domain/money/InvoiceArithmetic.ts"
import type { Schemas } from "../../../api/client.ts"
import { type EditedLine, formatDiscount, hasSameTexts, isChanged, toEditedLine } from "./draftLines.ts"
import type { CreatedLine } from "./newLines.ts"

type Billable = Schemas["Billable"]

/** How far a save has come. It may fail in the middle, and somebody may type while it runs. */
export interface SaveProgress {
  /** The lines that the service has taken, as they were sent, by key. */
  readonly sent: Map<string, EditedLine>
  /** The saved line that each new line has become, by key. */
  readonly created: Map<string, Billable>
  /** The discount that the service has taken. */
  discountText?: string
}

export const noProgress = (): SaveProgress => ({ sent: new Map(), created: new Map() })

/** Notes what a request has created. */
export const noteCreated = ({ created, sent }: SaveProgress, lines: ReadonlyArray<CreatedLine>) => {
  for (const { edited, saved } of lines) {
    sent.set(edited.key, edited)
    created.set(edited.key, saved)
  }
}

/** The discount of a draft as somebody types it, with the saved one that it replaces. */
export interface EditedDiscount {
  readonly text: string
  readonly base: Discount | undefined
}

export const toEditedDiscount = (base: Discount | undefined, currencyCode: string): EditedDiscount => ({
  text: formatDiscount(base, currencyCode),
  base
})

const isSent = (line: EditedLine, { sent }: SaveProgress) => {
  const known = sent.get(line.key)
  return known !== undefined && hasSameTexts(known, line)
}

/** The line on top of what the service has saved of it. A line that was never sent keeps the version it began with. */
const withSavedBase = (line: EditedLine, saved: ReadonlyMap<string, Billable>, { created, sent }: SaveProgress) => {
  if (!sent.has(line.key)) return line
  const id = line.base?.id ?? created.get(line.key)?.id ?? ""
  return { ...line, base: saved.get(id) ?? line.base }
}

/**
 * The saved lines, with everything on top that was typed and is not saved yet. A line of another person appears, one that
 * they deleted goes, and a changed one keeps our texts until it is saved, which shows the conflict.
 */
export const rebaseLines = (
  lines: ReadonlyArray<EditedLine>,
  saved: ReadonlyArray<Billable>,
  progress: SaveProgress,
  currencyCode: string
): ReadonlyArray<EditedLine> => {
  const byId = new Map(saved.map((line) => [line.id, line]))
  const unsaved = lines
    .filter((line) => !isSent(line, progress) && (line.base === undefined || isChanged(line, currencyCode)))
    .map((line) => withSavedBase(line, byId, progress))
  const unsavedById = new Map(unsaved.map((line) => [line.base?.id, line]))
  // Lines that stay as they are stay the same objects, of which everything is known.
  const unchanged = new Map(lines.filter((line) => !isChanged(line, currencyCode)).map((line) => [line.base?.id, line]))
  const toLine = (line: Billable) => {
    const known = unchanged.get(line.id)
    return known?.base?.updatedAt === line.updatedAt ? known : toEditedLine(line)
  }
  return [
    ...saved.map((line) => unsavedById.get(line.id) ?? toLine(line)),
    ...unsaved.filter(({ base }) => base === undefined || !byId.has(base.id))
  ]
}

export const rebaseDiscount = (
  edited: EditedDiscount,
  saved: Discount | undefined,
  { discountText }: SaveProgress,
  currencyCode: string
): EditedDiscount =>
  edited.text === discountText || edited.text === formatDiscount(edited.base, currencyCode)
    ? toEditedDiscount(saved, currencyCode)
    : edited

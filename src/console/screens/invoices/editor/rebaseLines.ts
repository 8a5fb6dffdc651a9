import type { Discount } from "../../../../domain/money/InvoiceArithmetic.ts"
import type { Schemas } from "../../../api/client.ts"
import { type EditedLine, formatDiscount, hasSameTexts, isChanged, toEditedLine } from "./draftLines.ts"

type Billable = Schemas["Billable"]

/** A line as it was sent, and what the service has made of it: nothing if it is deleted. */
export interface SavedLine {
  readonly edited: EditedLine
  readonly saved: Billable | undefined
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

/** A line that stays as it was sent becomes the saved one; it keeps its key, so that the cursor stays in it. */
const settleLine = (line: EditedLine, { edited, saved }: SavedLine): ReadonlyArray<EditedLine> => {
  if (line.base?.id !== edited.base?.id) return [line]
  if (!hasSameTexts(line, edited)) return [{ ...line, base: saved }]
  return saved === undefined ? [] : [{ ...toEditedLine(saved), key: line.key }]
}

/** The results of each line in their order: one save may create a line and change it. */
const byKey = (results: ReadonlyArray<SavedLine>) => {
  const groups = new Map<string, Array<SavedLine>>()
  for (const result of results) {
    const group = groups.get(result.edited.key)
    if (group === undefined) groups.set(result.edited.key, [result])
    else group.push(result)
  }
  return groups
}

/** The lines on top of what the service has saved of them. What was typed since they were sent is not lost. */
export const settleLines = (lines: ReadonlyArray<EditedLine>, results: ReadonlyArray<SavedLine>) => {
  if (results.length === 0) return lines
  const groups = byKey(results)
  return lines.flatMap((line) =>
    (groups.get(line.key) ?? []).reduce<ReadonlyArray<EditedLine>>(
      (settled, result) => settled.flatMap((one) => settleLine(one, result)),
      [line]
    )
  )
}

/** New lines that somebody has removed while they were sent. They are there now, and wait to be deleted. */
export const removedMeanwhile = (
  lines: ReadonlyArray<EditedLine>,
  results: ReadonlyArray<SavedLine>
): ReadonlyArray<EditedLine> => {
  const keys = new Set(lines.map(({ key }) => key))
  return [...byKey(results)].flatMap(([key, group]) => {
    const saved = group.at(-1)?.saved
    return saved === undefined || keys.has(key) ? [] : [{ ...toEditedLine(saved), key, isRemoved: true }]
  })
}

/**
 * The saved lines, with everything on top that was typed and is not saved yet. A line of another person appears, one that
 * they deleted goes, and a changed one keeps our texts until it is saved, which shows the conflict.
 */
export const rebaseLines = (
  lines: ReadonlyArray<EditedLine>,
  saved: ReadonlyArray<Billable>,
  currencyCode: string
): ReadonlyArray<EditedLine> => {
  const byId = new Map(saved.map((line) => [line.id, line]))
  const unsaved = lines.filter((line) => line.base === undefined || isChanged(line, currencyCode))
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

/** The discount on top of the one that the service has taken. */
export const settleDiscount = (
  edited: EditedDiscount,
  sent: EditedDiscount | undefined,
  currencyCode: string
): EditedDiscount => {
  if (sent === undefined) return edited
  return edited.text === sent.text ? toEditedDiscount(sent.base, currencyCode) : { ...edited, base: sent.base }
}

export const rebaseDiscount = (
  edited: EditedDiscount,
  saved: Discount | undefined,
  currencyCode: string
): EditedDiscount =>
  edited.text === formatDiscount(edited.base, currencyCode) ? toEditedDiscount(saved, currencyCode) : edited

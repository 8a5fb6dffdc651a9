import { type MutableRef, useEffect, useMemo, useRef, useState } from "preact/hooks"
import type { Schemas } from "../../../api/client.ts"
import { notify } from "../../../ui/Toasts.tsx"
import { type EditedLine, formatDiscount, isChanged, type LineErrors, newLine } from "./draftLines.ts"
import { forgetDraft, keepDraft, readKeptDraft } from "./keptDraft.ts"
import type { CreatedLine } from "./newLines.ts"
import {
  type EditedDiscount,
  noProgress,
  noteCreated,
  rebaseDiscount,
  rebaseLines,
  type SaveProgress,
  toEditedDiscount
} from "./rebaseLines.ts"

interface SavedDraft {
  readonly invoice: Schemas["Invoice"]
  readonly lines: ReadonlyArray<Schemas["Billable"]>
  readonly defaultTaxRates: ReadonlyArray<string>
  /** Lines of an earlier save whose answer was lost, such as by a reload. */
  readonly resumed: ReadonlyArray<CreatedLine>
}

interface DraftState {
  readonly lines: ReadonlyArray<EditedLine>
  readonly discount: EditedDiscount
}

const rebase = (
  { discount, lines }: DraftState,
  { defaultTaxRates, invoice, lines: saved }: SavedDraft,
  progress: SaveProgress
): DraftState => {
  const rebased = rebaseLines(lines, saved, progress, invoice.currencyCode)
  return {
    lines: rebased.length === 0 ? [newLine(defaultTaxRates)] : rebased,
    discount: rebaseDiscount(discount, invoice.discount, progress, invoice.currencyCode)
  }
}

const isDirtyIn = ({ discount, lines }: DraftState, currencyCode: string) =>
  lines.some((line) => isChanged(line, currencyCode)) || discount.text !== formatDiscount(discount.base, currencyCode)

/** Keeps what is not saved when the page is left, inside of the console or by a reload. */
const useKeeping = ({ currencyCode, id: invoiceId }: Schemas["Invoice"], state: DraftState, isDirty: boolean) => {
  const latest = useRef({ state, isDirty })
  latest.current = { state, isDirty }
  useEffect(() => {
    const keep = () => {
      const { discount, lines } = latest.current.state
      // The others are read again. All of a long draft would not fit.
      const unsaved = lines.filter((line) => isChanged(line, currencyCode))
      if (latest.current.isDirty) keepDraft(invoiceId, { discount, lines: unsaved })
      else forgetDraft(invoiceId)
    }
    addEventListener("pagehide", keep)
    return () => {
      removeEventListener("pagehide", keep)
      keep()
      if (latest.current.isDirty) notify("Your unsaved lines are kept until you close this tab")
    }
  }, [invoiceId, currencyCode])
}

/** Asks before the tab with unsaved lines is closed. */
const useLeaveWarning = (isDirty: boolean) =>
  useEffect(() => {
    if (!isDirty) return
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener("beforeunload", warn)
    return () => removeEventListener("beforeunload", warn)
  }, [isDirty])

/**
 * The draft as somebody types it, on top of the saved one. `progress` says what a save has sent, so that what is typed
 * meanwhile stays.
 */
export const useDraft = (saved: SavedDraft, progress: MutableRef<SaveProgress>) => {
  const { invoice, lines, resumed } = saved
  const { currencyCode, id } = invoice
  const untouched = (): DraftState =>
    rebase({ lines: [], discount: toEditedDiscount(invoice.discount, currencyCode) }, saved, noProgress())
  const [isRestored, setRestored] = useState(() => readKeptDraft(id) !== undefined)
  const [state, setState] = useState(() => {
    const kept = readKeptDraft(id)
    if (kept === undefined) return untouched()
    noteCreated(progress.current, resumed)
    return rebase(kept, saved, progress.current)
  })
  const version = useMemo(
    () => JSON.stringify([invoice.updatedAt, ...lines.map(({ id, updatedAt }) => [id, updatedAt])]),
    [invoice, lines]
  )
  useEffect(() => {
    const focusedId = document.activeElement?.id
    const taken = progress.current
    noteCreated(taken, resumed)
    setState((current) => rebase(current, saved, taken))
    progress.current = noProgress()
    // A saved line is another row than the new one was, but the cursor stays where it is.
    if (focusedId) requestAnimationFrame(() => document.getElementById(focusedId)?.focus())
  }, [version])
  const isDirty = useMemo(() => isDirtyIn(state, currencyCode), [state, currencyCode])
  useKeeping(invoice, state, isDirty)
  useLeaveWarning(isDirty)
  return {
    ...state,
    isDirty,
    isRestored: isRestored && isDirty,
    setLines: (edited: ReadonlyArray<EditedLine>) => setState((current) => ({ ...current, lines: edited })),
    showErrors: (errors: LineErrors) =>
      setState((current) => ({
        ...current,
        lines: current.lines.map((line) => ({ ...line, errors: errors.get(line.key) ?? {} }))
      })),
    setDiscountText: (text: string) => setState((current) => ({ ...current, discount: { ...current.discount, text } })),
    /** Gives up what is not saved. */
    discard: () => {
      setRestored(false)
      setState(untouched())
    }
  }
}

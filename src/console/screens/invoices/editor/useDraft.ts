import { type Signal, signal } from "@preact/signals"
import { useEffect, useMemo, useRef, useState } from "preact/hooks"
import type { Schemas } from "../../../api/client.ts"
import { notify } from "../../../ui/Toasts.tsx"
import { type EditedLine, formatDiscount, isChanged, type LineErrors, newLine } from "./draftLines.ts"
import { forgetDraft, keepDraft, readKeptDraft } from "./keptDraft.ts"
import { type CreatedLine, forgetPendingLines } from "./newLines.ts"
import {
  type EditedDiscount,
  rebaseDiscount,
  rebaseLines,
  removedMeanwhile,
  settleDiscount,
  settleLines,
  toEditedDiscount
} from "./rebaseLines.ts"
import type { SaveProgress } from "./saveDraft.ts"

interface SavedDraft {
  readonly invoice: Schemas["Invoice"]
  readonly lines: ReadonlyArray<Schemas["Billable"]>
  readonly defaultTaxRates: ReadonlyArray<string>
  /** What the lines of an earlier save have become whose answer was lost. Undefined while that is not known. */
  readonly resumed: ReadonlyArray<CreatedLine> | undefined
}

interface DraftState {
  readonly lines: ReadonlyArray<EditedLine>
  readonly discount: EditedDiscount
}

const rebase = ({ discount, lines }: DraftState, saved: SavedDraft): DraftState => {
  const { currencyCode, discount: savedDiscount } = saved.invoice
  const rebased = rebaseLines(settleLines(lines, saved.resumed ?? []), saved.lines, currencyCode)
  return {
    lines: rebased.length === 0 ? [newLine(saved.defaultTaxRates)] : rebased,
    discount: rebaseDiscount(discount, savedDiscount, currencyCode)
  }
}

const untouched = (saved: SavedDraft) =>
  rebase({ lines: [], discount: toEditedDiscount(saved.invoice.discount, saved.invoice.currencyCode) }, saved)

/** The draft on top of what a save has sent so far. */
const settle = ({ discount, lines }: DraftState, progress: SaveProgress, currencyCode: string): DraftState => ({
  lines: [...settleLines(lines, progress.lines), ...removedMeanwhile(lines, progress.lines)],
  discount: settleDiscount(discount, progress.discount, currencyCode)
})

const isDirtyIn = ({ discount, lines }: DraftState, currencyCode: string) =>
  lines.some((line) => isChanged(line, currencyCode)) || discount.text !== formatDiscount(discount.base, currencyCode)

/** Keeps what is not saved when the page is left, inside of the console or by a reload. */
const useKeeping = ({ currencyCode, id: invoiceId }: Schemas["Invoice"], latest: () => DraftState) =>
  useEffect(() => {
    const keep = () => {
      const state = latest()
      const isDirty = isDirtyIn(state, currencyCode)
      // The others are read again. All of a long draft would not fit.
      const unsaved = state.lines.filter((line) => isChanged(line, currencyCode))
      if (isDirty) keepDraft(invoiceId, { discount: state.discount, lines: unsaved })
      else forgetDraft(invoiceId)
      return isDirty
    }
    addEventListener("pagehide", keep)
    return () => {
      removeEventListener("pagehide", keep)
      if (keep()) notify("Your unsaved lines are kept until you close this tab")
    }
  }, [invoiceId, currencyCode])

/** Asks before the tab with unsaved lines is closed. */
const useLeaveWarning = (isDirty: boolean) =>
  useEffect(() => {
    if (!isDirty) return
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener("beforeunload", warn)
    return () => removeEventListener("beforeunload", warn)
  }, [isDirty])

/** Runs one save on the draft as it is now, and notes what came of it. Undefined progress means that none runs. */
const useSaving = (state: Signal<DraftState>, currencyCode: string) => {
  const progress = useRef<SaveProgress>()
  const settled = () =>
    progress.current === undefined ? state.peek() : settle(state.peek(), progress.current, currencyCode)
  return {
    /** The draft with what the running save has sent. */
    settled,
    isSaving: () => progress.current !== undefined,
    saving: async (work: (current: DraftState, progress: SaveProgress) => Promise<void>) => {
      progress.current = { lines: [] }
      try {
        await work(state.peek(), progress.current)
      } finally {
        state.value = settled()
        progress.current = undefined
      }
    }
  }
}

/** The draft as somebody types it, on top of the saved one. What is typed while a save runs stays. */
export const useDraft = (saved: SavedDraft) => {
  const { invoice, lines, resumed } = saved
  const { currencyCode, id } = invoice
  const [isRestored, setRestored] = useState(() => readKeptDraft(id) !== undefined)
  const state = useMemo(() => {
    const kept = readKeptDraft(id)
    return signal(kept === undefined ? untouched(saved) : rebase(kept, saved))
  }, [id])
  const { isSaving, saving, settled } = useSaving(state, currencyCode)
  useEffect(() => {
    // A save ends with another reading. While it is unknown what lines have become, they could be there twice.
    if (isSaving() || resumed === undefined) return
    state.value = rebase(state.peek(), saved)
    forgetPendingLines(id, resumed)
  }, [invoice, lines, resumed])
  const isDirty = useMemo(() => isDirtyIn(state.value, currencyCode), [state.value, currencyCode])
  useKeeping(invoice, settled)
  useLeaveWarning(isDirty)
  const change = (part: Partial<DraftState>) => {
    state.value = { ...state.peek(), ...part }
  }
  return {
    ...state.value,
    isDirty,
    /** The same between two renderings. */
    isDirtyNow: () => isDirtyIn(state.peek(), currencyCode),
    isRestored: isRestored && isDirty,
    saving,
    setLines: (edited: ReadonlyArray<EditedLine>) => change({ lines: edited }),
    showErrors: (errors: LineErrors) =>
      change({ lines: state.peek().lines.map((line) => ({ ...line, errors: errors.get(line.key) ?? {} })) }),
    setDiscountText: (text: string) => change({ discount: { ...state.peek().discount, text } }),
    /** Gives up what is not saved. */
    discard: () => {
      setRestored(false)
      state.value = untouched(saved)
    }
  }
}

import { useEffect, useMemo, useRef } from "preact/hooks"
import { draftTotals } from "../../../../domain/invoicing/draft/DraftTotals.ts"
import { messageOf, type Schemas } from "../../../api/client.ts"
import { changes } from "../../../api/query.ts"
import { notify } from "../../../ui/Toasts.tsx"
import { Totals } from "../Totals.tsx"
import { isBlank, type LineErrors, parseDiscount, parseLine } from "./draftLines.ts"
import { LineGrid } from "./LineGrid.tsx"
import type { CreatedLine } from "./newLines.ts"
import { RejectedLines, saveDraft } from "./saveDraft.ts"
import { useDraft } from "./useDraft.ts"

interface EditorProps {
  readonly invoice: Schemas["Invoice"]
  readonly lines: ReadonlyArray<Schemas["Billable"]>
  readonly rates: ReadonlyArray<Schemas["TaxRate"]>
  readonly defaultTaxRates: ReadonlyArray<string>
  /** What the lines of an earlier save have become whose answer was lost. Undefined while that is not known. */
  readonly resumed: ReadonlyArray<CreatedLine> | undefined
  /** Tells whether there is something to save, and how to. */
  readonly onState: (state: { readonly isDirty: boolean; readonly save: () => Promise<boolean> }) => void
}

/**
 * Saves once at a time. Who asks while a save runs wants what was typed since: that is saved next, unless the running save
 * fails.
 */
const useSaveQueue = (saveOnce: () => Promise<boolean>, isDirty: () => boolean) => {
  const latest = useRef(saveOnce)
  latest.current = saveOnce
  const running = useRef<Promise<boolean>>()
  const next = useRef<Promise<boolean>>()
  const save = (): Promise<boolean> => {
    if (running.current === undefined) {
      running.current = latest.current().finally(() => {
        running.current = undefined
      })
      return running.current
    }
    next.current ??= running.current.then((isSaved) => {
      next.current = undefined
      return isSaved && (!isDirty() || save())
    })
    return next.current
  }
  return save
}

/** Saves the draft, and keeps on the page what the service rejects. */
const saveAndTell = async (work: () => Promise<void>, onRejected: (errors: LineErrors) => void) => {
  try {
    await work()
    notify("The draft is saved")
    return true
  } catch (cause) {
    if (cause instanceof RejectedLines) onRejected(cause.errors)
    notify(messageOf(cause), { isError: true })
    return false
  } finally {
    // Also after a failure: a part may be saved.
    changes.value++
  }
}

/** Ctrl+S saves, wherever the focus is. */
const useSaveKey = (save: () => Promise<boolean>) => {
  const latest = useRef(save)
  latest.current = save
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.key !== "s") return
      event.preventDefault()
      void latest.current()
    }
    addEventListener("keydown", onKey)
    return () => removeEventListener("keydown", onKey)
  }, [])
}

/** A draft as a grid with live totals, which are those that the service will compute. */
export const Editor = ({ defaultTaxRates, invoice, lines: saved, onState, rates, resumed }: EditorProps) => {
  const { currencyCode } = invoice
  const draft = useDraft({ invoice, lines: saved, defaultTaxRates, resumed })
  const { discount, isDirty, lines } = draft
  const given = parseDiscount(discount.text, currencyCode)
  const terms = useMemo(() => new Map(rates.map((rate) => [rate.id, rate])), [rates])
  const amounts = useMemo(() => {
    const counted = lines.filter((line) => !line.isRemoved && !isBlank(line))
    return draftTotals(
      counted.map((line) => parseLine(line, currencyCode).line),
      given?.discount,
      terms
    )
  }, [lines, discount.text, terms, currencyCode])
  const saveOnce = () =>
    saveAndTell(
      () => draft.saving((current, progress) => saveDraft({ ...current, invoice }, progress)),
      draft.showErrors
    )
  const save = useSaveQueue(saveOnce, draft.isDirtyNow)
  useSaveKey(save)
  useEffect(() => onState({ isDirty, save }))
  return (
    <div class="card flush editor">
      {draft.isRestored && (
        <div class="restored" role="status">
          <span>What you had typed and not saved is here again.</span>
          <button type="button" class="quiet" onClick={draft.discard}>
            Discard it
          </button>
        </div>
      )}
      <LineGrid
        lines={lines}
        onChange={draft.setLines}
        currencyCode={currencyCode}
        rates={rates}
        defaultTaxRates={defaultTaxRates}
      />
      <div class="editor-foot">
        <div class="field">
          <label for="invoice-discount">Discount on the invoice</label>
          <input
            id="invoice-discount"
            value={discount.text}
            placeholder="10% or an amount"
            aria-invalid={given === undefined}
            aria-describedby="invoice-discount-hint"
            onInput={({ currentTarget }) => draft.setDiscountText(currentTarget.value)}
          />
          <small id="invoice-discount-hint" class={given === undefined ? "error" : "muted"}>
            {given === undefined ? "must be 10% or an amount" : "Before tax, split over the tax rates."}
          </small>
        </div>
        <Totals amounts={amounts} currencyCode={currencyCode} />
      </div>
    </div>
  )
}

import { useEffect, useMemo, useRef, useState } from "preact/hooks"
import { draftTotals } from "../../../domain/invoicing/DraftTotals.ts"
import { messageOf, type Schemas } from "../../api/client.ts"
import { changes } from "../../api/query.ts"
import { notify } from "../../ui/Toasts.tsx"
import {
  type EditedLine,
  formatDiscount,
  isBlank,
  isChanged,
  newLine,
  parseDiscount,
  parseLine,
  toEditedLine
} from "./draftLines.ts"
import { LineGrid } from "./LineGrid.tsx"
import { RejectedLines, saveDraft } from "./saveDraft.ts"
import { Totals } from "./Totals.tsx"

interface EditorProps {
  readonly invoice: Schemas["Invoice"]
  readonly lines: ReadonlyArray<Schemas["Billable"]>
  readonly rates: ReadonlyArray<Schemas["TaxRate"]>
  readonly defaultTaxRates: ReadonlyArray<string>
  /** Tells whether there is something to save, and how to. */
  readonly onState: (state: { readonly isDirty: boolean; readonly save: () => Promise<boolean> }) => void
}

const editableLines = (lines: ReadonlyArray<Schemas["Billable"]>, defaultTaxRates: ReadonlyArray<string>) =>
  lines.length === 0 ? [newLine(defaultTaxRates)] : lines.map(toEditedLine)

/** Saves once at a time, and keeps on the page what the service rejects. */
const useSave = (work: () => Promise<void>, onRejected: (lines: ReadonlyArray<EditedLine>) => void) => {
  const isSaving = useRef(false)
  return async () => {
    if (isSaving.current) return false
    isSaving.current = true
    try {
      await work()
      changes.value++
      notify("The draft is saved")
      return true
    } catch (cause) {
      if (cause instanceof RejectedLines) onRejected(cause.lines)
      notify(messageOf(cause), { isError: true })
      return false
    } finally {
      isSaving.current = false
    }
  }
}

/** Asks before the page with unsaved lines is left. */
const useLeaveWarning = (isDirty: boolean) =>
  useEffect(() => {
    if (!isDirty) return
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener("beforeunload", warn)
    return () => removeEventListener("beforeunload", warn)
  }, [isDirty])

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
export const Editor = ({ defaultTaxRates, invoice, lines: saved, onState, rates }: EditorProps) => {
  const { currencyCode } = invoice
  const [lines, setLines] = useState<ReadonlyArray<EditedLine>>(() => editableLines(saved, defaultTaxRates))
  const [discountText, setDiscountText] = useState(() => formatDiscount(invoice.discount, currencyCode))
  const given = parseDiscount(discountText, currencyCode)
  // What was saved replaces what was typed. The same version that is read again does not.
  const version = JSON.stringify([invoice.updatedAt, ...saved.map(({ id, updatedAt }) => [id, updatedAt])])
  useEffect(() => {
    const focusedId = document.activeElement?.id
    setLines(editableLines(saved, defaultTaxRates))
    setDiscountText(formatDiscount(invoice.discount, currencyCode))
    // A saved line is another row than the new one was, but the cursor stays where it is.
    if (focusedId) requestAnimationFrame(() => document.getElementById(focusedId)?.focus())
  }, [version])
  const terms = useMemo(() => new Map(rates.map((rate) => [rate.id, rate])), [rates])
  const counted = lines.filter((line) => !line.isRemoved && !isBlank(line))
  const amounts = draftTotals(
    counted.map((line) => parseLine(line, currencyCode).line),
    given?.discount,
    terms
  )
  const isDirty =
    lines.some((line) => isChanged(line, currencyCode)) ||
    JSON.stringify(given?.discount) !== JSON.stringify(invoice.discount)
  const save = useSave(() => saveDraft({ invoice, lines, discount: given?.discount }), setLines)
  useLeaveWarning(isDirty)
  useSaveKey(save)
  useEffect(() => onState({ isDirty, save }))
  return (
    <div class="card flush editor">
      <LineGrid
        lines={lines}
        onChange={setLines}
        currencyCode={currencyCode}
        rates={rates}
        defaultTaxRates={defaultTaxRates}
      />
      <div class="editor-foot">
        <div class="field">
          <label for="invoice-discount">Discount on the invoice</label>
          <input
            id="invoice-discount"
            value={discountText}
            placeholder="10% or an amount"
            aria-invalid={given === undefined}
            aria-describedby="invoice-discount-hint"
            onInput={({ currentTarget }) => setDiscountText(currentTarget.value)}
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

import { useState } from "preact/hooks"
import { useLocation } from "preact-iso/router"
import { creditTotals } from "../../../domain/creditNotes/CreditTotals.ts"
import { ApiFailure, api, done, type Loaded, load, read, type Schemas } from "../../api/client.ts"
import { orUndo, withKey } from "../../api/idempotency.ts"
import { useFreshQuery } from "../../api/query.ts"
import { hasRole, inTenant } from "../../api/session.ts"
import { ifMatch } from "../../api/update.ts"
import { formatNumber } from "../../ui/format.ts"
import { Dialog } from "../../ui/forms/Dialog.tsx"
import { Choice, Field } from "../../ui/forms/Form.tsx"
import { FormDialog } from "../../ui/forms/FormDialog.tsx"
import { VirtualList } from "../../ui/lists/VirtualList.tsx"
import { Shown } from "../../ui/State.tsx"
import { Money } from "../../ui/Value.tsx"
import { Totals } from "../invoices/Totals.tsx"
import { type CreditableLine, type CreditMode, leftOf, readCreditable, toCredit, toRequestLine } from "./creditable.ts"

/** As high as `.credit-line` in the style sheet. */
const rowHeight = 96

const modes: ReadonlyArray<readonly [mode: CreditMode, label: string]> = [
  ["full", "Everything that is left"],
  ["quantity", "Lines, by quantity"],
  ["amount", "Lines, by net amount"]
]

const fieldOf = (billableId: string) => `lines.${billableId}`

interface LinesProps {
  readonly lines: ReadonlyArray<CreditableLine>
  readonly mode: CreditMode
  readonly texts: ReadonlyMap<string, string>
  readonly onText: (id: string, text: string) => void
}

const Lines = ({ lines, mode, onText, texts }: LinesProps) => (
  <div class="credit-lines">
    <VirtualList
      items={lines}
      rowHeight={rowHeight}
      label="Lines"
      keyOf={({ line }) => `${mode} ${line.id}`}
      row={(credited) => {
        const { amountMinor, currencyCode, id, name, quantity } = credited.line
        return (
          <div class="credit-line">
            <span class="row-main">
              <strong>{name}</strong>
              <span class="muted">
                {formatNumber(quantity)} × <Money amountMinor={amountMinor} currencyCode={currencyCode} />
              </span>
              <span class="muted">
                <Money amountMinor={leftOf(credited)} currencyCode={currencyCode} /> left
              </span>
            </span>
            <Field
              name={fieldOf(id)}
              label={
                <>
                  {mode === "quantity" ? "Quantity" : "Net amount"} <span class="sr">of {name}</span>
                </>
              }
              value={texts.get(id)}
              onInput={(text) => onText(id, text)}
            />
          </div>
        )
      }}
    />
  </div>
)

/** Puts an error such as `lines[2].quantity` to the input of the line that the request has sent. */
const atInputs = (cause: unknown, sent: ReadonlyArray<{ readonly billableId: string }>) =>
  cause instanceof ApiFailure
    ? new ApiFailure(
        cause.status,
        cause.message,
        cause.details.map((detail) => {
          const line = sent[Number(detail.field.match(/^lines\[(\d+)\]/)?.[1])]
          return line === undefined ? detail : { ...detail, field: fieldOf(line.billableId) }
        })
      )
    : cause

interface Content {
  readonly reason: string
  readonly full?: boolean
  readonly lines?: Array<ReturnType<typeof toRequestLine>>
}

const create = (invoiceId: string, content: Content, headers: { "Idempotency-Key": string }) =>
  load(api.POST("/api/v1/credit-notes", { body: { ...content, invoiceId }, headers }))

/**
 * Creates the note and finalizes it. The service knows a key by its operation, so both requests have the same: after a
 * reload between them, the same form makes no second note.
 */
const issue = async (invoiceId: string, content: Content, headers: { "Idempotency-Key": string }) => {
  const note = await create(invoiceId, content, headers)
  const path = { creditNoteId: note.value.id }
  return orUndo(
    read(api.POST("/api/v1/credit-notes/{creditNoteId}/finalize", { params: { path, query: {} }, headers })),
    () => done(api.DELETE("/api/v1/credit-notes/{creditNoteId}", { params: { path }, headers: ifMatch(note) }))
  )
}

interface CreditFormProps {
  readonly invoice: Schemas["Invoice"]
  readonly lines: ReadonlyArray<CreditableLine>
  readonly onClose: () => void
}

const CreditForm = ({ invoice, lines, onClose }: CreditFormProps) => {
  const { route } = useLocation()
  const [mode, setMode] = useState<CreditMode>("full")
  const [texts, setTexts] = useState<ReadonlyMap<string, string>>(new Map())
  const isIssued = hasRole("ADMIN")
  const submit = async (reason: string) => {
    const sent = lines.flatMap((credited) => {
      const text = texts.get(credited.line.id)?.trim() ?? ""
      return text === "" ? [] : [toRequestLine(credited, mode, text)]
    })
    try {
      const content = { reason, ...(mode === "full" ? { full: true } : { lines: sent }) }
      return await withKey(`credit note of ${invoice.id}`, async (headers) => {
        if (isIssued) return `${(await issue(invoice.id, content, headers)).creditNoteNumber} is issued`
        const { value } = await create(invoice.id, content, headers)
        route(inTenant(`/credit-notes/${value.id}`))
        return "The draft is saved"
      })
    } catch (cause) {
      throw atInputs(cause, sent)
    }
  }
  return (
    <FormDialog
      title="Credit note"
      about={`Credits ${invoice.invoiceNumber}. What is not paid yet is settled, the rest stays with the client.`}
      submitLabel={isIssued ? "Issue credit note" : "Save draft"}
      isWide={mode !== "full"}
      onClose={onClose}
      onSubmit={({ reason = "" }) => submit(reason)}
    >
      <Field name="reason" label="Reason" isRequired hint="As the credit note shows it." />
      <Choice
        name="content"
        label="Credits"
        options={modes}
        onChoose={(value) => {
          setMode(modes.find(([known]) => known === value)?.[0] ?? "full")
          setTexts(new Map())
        }}
      />
      {mode !== "full" && (
        <Lines
          lines={lines.filter((line) => leftOf(line) !== 0)}
          mode={mode}
          texts={texts}
          onText={(id, text) => setTexts(new Map(texts).set(id, text))}
        />
      )}
      <Totals amounts={creditTotals(invoice, toCredit(lines, mode, texts))} currencyCode={invoice.currencyCode} />
    </FormDialog>
  )
}

interface CreditNoteDialogProps {
  readonly loaded: Loaded<Schemas["Invoice"]>
  readonly lines: ReadonlyArray<Schemas["Billable"]>
  readonly onClose: () => void
}

/** Corrects an issued invoice, as a whole or by its lines. */
export const CreditNoteDialog = ({ lines, loaded: { value }, onClose }: CreditNoteDialogProps) => {
  const query = useFreshQuery(`creditable ${value.id}`, () => readCreditable(value.id, lines))
  if (query.value !== undefined) return <CreditForm invoice={value} lines={query.value} onClose={onClose} />
  return (
    <Dialog title="Credit note" onClose={onClose}>
      <Shown query={query}>{() => null}</Shown>
    </Dialog>
  )
}

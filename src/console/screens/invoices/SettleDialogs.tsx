import { api, done, type Loaded, load, read, type Schemas } from "../../api/client.ts"
import { orUndo, withKey } from "../../api/idempotency.ts"
import { changes } from "../../api/query.ts"
import { Dialog } from "../../ui/Dialog.tsx"
import { Field, Form, filled } from "../../ui/Form.tsx"
import { editableAmount, formatMoney } from "../../ui/format.ts"
import { notify } from "../../ui/Toasts.tsx"
import { amountOf } from "../contracts/NewContract.tsx"

interface DialogProps {
  readonly loaded: Loaded<Schemas["Invoice"]>
  readonly onClose: () => void
}

const finish = (text: string, onClose: () => void) => {
  notify(text)
  changes.value++
  onClose()
}

const readClientOf = async (contractId: string) =>
  (await read(api.GET("/api/v1/contracts/{contractId}", { params: { path: { contractId } } }))).client

/** A day of a form as the start of that day in UTC. */
const toTimestamp = (day: string) => `${day}T00:00:00.000Z`

/** Records a payment that settles the invoice, wholly or in part. */
export const PaymentDialog = ({ loaded: { etag, value }, onClose }: DialogProps) => {
  const { balanceMinor, contract, currencyCode, id } = value
  return (
    <Dialog title="Record a payment" onClose={onClose}>
      <Form
        submitLabel="Record payment"
        onCancel={onClose}
        onSubmit={async (values) => {
          const amountMinor = amountOf(values, "amountMinor", currencyCode) ?? 0
          const { method, receivedAt, reference } = filled(values)
          const body = {
            clientId: await readClientOf(contract),
            currencyCode,
            amountMinor,
            allocations: [{ invoiceId: id, amountMinor: Math.min(amountMinor, balanceMinor) }],
            ...(receivedAt === undefined ? {} : { receivedAt: toTimestamp(receivedAt) }),
            ...(method === undefined ? {} : { method }),
            ...(reference === undefined ? {} : { reference })
          }
          await withKey(`payment of ${id} ${etag}`, (headers) => read(api.POST("/api/v1/payments", { body, headers })))
          finish(`A payment of ${formatMoney(amountMinor, currencyCode)} is recorded`, onClose)
        }}
      >
        <Field
          name="amountMinor"
          label={`Amount in ${currencyCode}`}
          value={editableAmount(balanceMinor, currencyCode)}
          isRequired
          hint="What exceeds the balance stays with the client as paid in advance."
        />
        <Field name="receivedAt" label="Received on" type="date" value={new Date().toISOString().slice(0, 10)} />
        <div class="field-row">
          <Field name="method" label="Method" placeholder="bank transfer" />
          <Field name="reference" label="Reference" />
        </div>
      </Form>
    </Dialog>
  )
}

const issueCreditNote = async (invoiceId: string, reason: string, headers: { "Idempotency-Key": string }) => {
  const { etag, value } = await load(
    api.POST("/api/v1/credit-notes", { body: { invoiceId, reason, full: true }, headers })
  )
  const path = { creditNoteId: value.id }
  return orUndo(
    read(api.POST("/api/v1/credit-notes/{creditNoteId}/finalize", { params: { path, query: {} }, headers })),
    () =>
      done(api.DELETE("/api/v1/credit-notes/{creditNoteId}", { params: { path }, headers: { "If-Match": etag ?? "" } }))
  )
}

/** Corrects an issued invoice as a whole: creates a credit note over it and finalizes the note. */
export const CreditNoteDialog = ({ loaded: { value }, onClose }: DialogProps) => (
  <Dialog title="Credit note" onClose={onClose}>
    <p>Credits {value.invoiceNumber} in full. What is not paid yet is settled, the rest stays with the client.</p>
    <Form
      submitLabel="Issue credit note"
      onCancel={onClose}
      onSubmit={async ({ reason = "" }) => {
        const { creditNoteNumber } = await withKey(`credit note of ${value.id}`, (headers) =>
          issueCreditNote(value.id, reason, headers)
        )
        finish(`${creditNoteNumber} is issued`, onClose)
      }}
    >
      <Field name="reason" label="Reason" isRequired hint="As the credit note shows it." />
    </Form>
  </Dialog>
)

const splitAddresses = (text: string) =>
  text
    .split(/[,;\s]+/)
    .map((address) => address.trim())
    .filter((address) => address !== "")

/** Sends the invoice by mail. */
export const SendDialog = ({ loaded: { value }, onClose }: DialogProps) => (
  <Dialog title={`Send ${value.invoiceNumber ?? "invoice"}`} onClose={onClose}>
    <Form
      submitLabel="Send"
      onCancel={onClose}
      onSubmit={async (values) => {
        const { message, subject, to } = filled(values)
        const body = {
          ...(to === undefined ? {} : { to: splitAddresses(to) }),
          ...(subject === undefined ? {} : { subject }),
          ...(message === undefined ? {} : { message })
        }
        const { isReplayed, value: mails } = await withKey(`send ${value.id}`, (headers) =>
          load(
            api.POST("/api/v1/invoices/{invoiceId}/send", { params: { path: { invoiceId: value.id } }, body, headers })
          )
        )
        const recipients = mails.map(({ recipient }) => recipient).join(", ")
        finish(isReplayed ? `An earlier try was already sent to ${recipients}` : `Sent to ${recipients}`, onClose)
      }}
    >
      <Field
        name="to"
        label="To"
        hint="Addresses with commas between them. Empty: the contacts that receive invoices."
      />
      <Field
        name="subject"
        label="Subject"
        hint="Empty: that of the mail integration, in the language of the client."
      />
      <Field name="message" label="Message" isLong />
    </Form>
  </Dialog>
)

/** Voids an invoice after a question: nothing reverts it. */
export const VoidDialog = ({ loaded, onClose }: DialogProps) => (
  <Dialog title="Void" onClose={onClose}>
    <p>A void invoice keeps its number, and nothing reverts it. What its lines refer to can be billed again.</p>
    <Form
      submitLabel="Void invoice"
      onCancel={onClose}
      onSubmit={async () => {
        const { id } = loaded.value
        await withKey(`void ${id}`, (key) =>
          read(
            api.POST("/api/v1/invoices/{invoiceId}/void", {
              params: { path: { invoiceId: id }, query: {} },
              headers: { ...key, ...(loaded.etag === undefined ? {} : { "If-Match": loaded.etag }) }
            })
          )
        )
        finish("The invoice is void", onClose)
      }}
    >
      {null}
    </Form>
  </Dialog>
)

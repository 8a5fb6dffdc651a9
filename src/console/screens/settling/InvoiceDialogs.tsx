import { api, type Loaded, load, read, type Schemas } from "../../api/client.ts"
import { withKey } from "../../api/idempotency.ts"
import { ifMatch } from "../../api/update.ts"
import { formatMoney } from "../../ui/format.ts"
import { AmountField, requiredAmountOf } from "../../ui/forms/Amount.tsx"
import { Field, filled } from "../../ui/forms/Form.tsx"
import { FormDialog } from "../../ui/forms/FormDialog.tsx"

interface DialogProps {
  readonly loaded: Loaded<Schemas["Invoice"]>
  readonly onClose: () => void
}

const readClientOf = async (contractId: string) =>
  (await read(api.GET("/api/v1/contracts/{contractId}", { params: { path: { contractId } } }))).client

/** A day of a form as the start of that day in UTC. */
const toTimestamp = (day: string) => `${day}T00:00:00.000Z`

/** Records a payment that settles the invoice, wholly or in part. */
export const PaymentDialog = ({ loaded: { etag, value }, onClose }: DialogProps) => {
  const { balanceMinor, contract, currencyCode, id } = value
  return (
    <FormDialog
      title="Record a payment"
      submitLabel="Record payment"
      onClose={onClose}
      onSubmit={async (values) => {
        const amountMinor = requiredAmountOf(values, currencyCode)
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
        return `A payment of ${formatMoney(amountMinor, currencyCode)} is recorded`
      }}
    >
      <AmountField
        amountMinor={balanceMinor}
        currencyCode={currencyCode}
        hint="What exceeds the balance stays with the client as paid in advance."
      />
      <Field name="receivedAt" label="Received on" type="date" value={new Date().toISOString().slice(0, 10)} />
      <div class="field-row">
        <Field name="method" label="Method" placeholder="bank transfer" />
        <Field name="reference" label="Reference" />
      </div>
    </FormDialog>
  )
}

/** Writes off what will not be paid any more. */
export const WriteOffDialog = ({ loaded, onClose }: DialogProps) => {
  const { balanceMinor, currencyCode, id } = loaded.value
  return (
    <FormDialog
      title="Write off"
      about="What will not be paid any more. The invoice stays as it is, and the write-off can be taken back."
      submitLabel="Write off"
      onClose={onClose}
      onSubmit={async (values) => {
        const amountMinor = requiredAmountOf(values, currencyCode)
        const body = { amountMinor, reason: values["reason"] ?? "" }
        await withKey(`write off ${id} ${loaded.etag}`, (key) =>
          read(
            api.POST("/api/v1/invoices/{invoiceId}/write-off", {
              params: { path: { invoiceId: id } },
              body,
              headers: { ...key, ...ifMatch(loaded) }
            })
          )
        )
        return `${formatMoney(amountMinor, currencyCode)} is written off`
      }}
    >
      <AmountField amountMinor={balanceMinor} currencyCode={currencyCode} />
      <Field name="reason" label="Reason" isRequired placeholder="Goodwill" />
    </FormDialog>
  )
}

/** Takes back all that was written off. */
export const ReverseWriteOffDialog = ({ loaded, onClose }: DialogProps) => (
  <FormDialog
    title="Take the write-off back"
    about={`${formatMoney(loaded.value.writtenOffMinor, loaded.value.currencyCode)} is open again.`}
    submitLabel="Take back"
    onClose={onClose}
    onSubmit={async () => {
      const { id } = loaded.value
      await withKey(`reverse write-off ${id} ${loaded.etag}`, (key) =>
        read(
          api.POST("/api/v1/invoices/{invoiceId}/write-off/reverse", {
            params: { path: { invoiceId: id } },
            headers: { ...key, ...ifMatch(loaded) }
          })
        )
      )
      return "The write-off is taken back"
    }}
  />
)

const splitAddresses = (text: string) =>
  text
    .split(/[,;\s]+/)
    .map((address) => address.trim())
    .filter((address) => address !== "")

/** Sends the invoice by mail. */
export const SendDialog = ({ loaded: { value }, onClose }: DialogProps) => (
  <FormDialog
    title={`Send ${value.invoiceNumber ?? "invoice"}`}
    submitLabel="Send"
    onClose={onClose}
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
      return isReplayed ? `An earlier try was already sent to ${recipients}` : `Sent to ${recipients}`
    }}
  >
    <Field name="to" label="To" hint="Addresses with commas between them. Empty: the contacts that receive invoices." />
    <Field name="subject" label="Subject" hint="Empty: that of the mail integration, in the language of the client." />
    <Field name="message" label="Message" isLong />
  </FormDialog>
)

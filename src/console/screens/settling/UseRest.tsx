import { useState } from "preact/hooks"
import { api, type Loaded, load, read, type Schemas } from "../../api/client.ts"
import { withKey } from "../../api/idempotency.ts"
import { useFreshQuery } from "../../api/query.ts"
import { ifMatch } from "../../api/update.ts"
import { formatMoney } from "../../ui/format.ts"
import { AmountField, requiredAmountOf } from "../../ui/forms/Amount.tsx"
import { Choice, Field, filled } from "../../ui/forms/Form.tsx"
import { FormDialog } from "../../ui/forms/FormDialog.tsx"
import { Shown } from "../../ui/State.tsx"

/** A payment or a credit note that has something left. */
interface Source {
  readonly id: string
  readonly client: string
  readonly currencyCode: string
  readonly unallocatedMinor: number
}

type Headers = Readonly<Record<string, string>>

interface Operations {
  readonly allocate: (id: string, body: Schemas["AllocatePayment"], headers: Headers) => Promise<unknown>
  readonly refund: (id: string, body: Schemas["RefundPayment"], headers: Headers) => Promise<unknown>
}

const operations: Readonly<Record<"payment" | "creditNote", Operations>> = {
  payment: {
    allocate: (paymentId, body, headers) =>
      read(api.POST("/api/v1/payments/{paymentId}/allocate", { params: { path: { paymentId } }, body, headers })),
    refund: (paymentId, body, headers) =>
      read(api.POST("/api/v1/payments/{paymentId}/refund", { params: { path: { paymentId } }, body, headers }))
  },
  creditNote: {
    allocate: (creditNoteId, body, headers) =>
      read(
        api.POST("/api/v1/credit-notes/{creditNoteId}/allocate", { params: { path: { creditNoteId } }, body, headers })
      ),
    refund: (creditNoteId, body, headers) =>
      read(
        api.POST("/api/v1/credit-notes/{creditNoteId}/refund", { params: { path: { creditNoteId } }, body, headers })
      )
  }
}

interface RestDialogProps {
  readonly kind: keyof typeof operations
  readonly loaded: Loaded<Source>
  readonly onClose: () => void
}

/** A choice of so many invoices is no choice any more; those that are due first are the likely ones. */
const maxInvoices = 200

const readOpenInvoices = async ({ client, currencyCode }: Source) => {
  const query = { clientId: client, status: "FINALIZED", sort: "dueAt", limit: maxInvoices } as const
  const { value } = await load(api.GET("/api/v1/invoices", { params: { query } }))
  return value.filter((invoice) => invoice.currencyCode === currencyCode && invoice.balanceMinor > 0)
}

/** Settles an open invoice of the client with what is left. */
export const AllocateDialog = ({ kind, loaded, onClose }: RestDialogProps) => {
  const { currencyCode, id, unallocatedMinor } = loaded.value
  const [chosen, setChosen] = useState<string | undefined>(undefined)
  const query = useFreshQuery(`open invoices for ${id}`, () => readOpenInvoices(loaded.value))
  const invoice = query.value?.find((one) => one.id === chosen) ?? query.value?.[0]
  return (
    <FormDialog
      title="Settle an invoice"
      about={`${formatMoney(unallocatedMinor, currencyCode)} is left.`}
      submitLabel="Settle"
      onClose={onClose}
      onSubmit={async (values) => {
        const { invoiceId = "" } = values
        const amountMinor = requiredAmountOf(values, currencyCode)
        await withKey(`allocate ${id} ${invoiceId} ${loaded.etag}`, (key) =>
          operations[kind].allocate(id, { invoiceId, amountMinor }, { ...key, ...ifMatch(loaded) })
        )
        return `${formatMoney(amountMinor, currencyCode)} settles ${invoice?.invoiceNumber}`
      }}
    >
      <Shown query={query}>
        {(invoices) => (
          <>
            <Choice
              name="invoiceId"
              label="Invoice"
              value={invoice?.id}
              onChoose={setChosen}
              options={invoices.map((one) => [
                one.id,
                `${one.invoiceNumber}: ${formatMoney(one.balanceMinor, currencyCode)} open`
              ])}
              {...(invoices.length === 0 ? { hint: `The client has no open invoice in ${currencyCode}.` } : {})}
            />
            <AmountField
              key={invoice?.id}
              amountMinor={Math.min(unallocatedMinor, invoice?.balanceMinor ?? 0)}
              currencyCode={currencyCode}
            />
          </>
        )}
      </Shown>
    </FormDialog>
  )
}

/** Books that the client got back what is left. */
export const RefundDialog = ({ kind, loaded, onClose }: RestDialogProps) => {
  const { currencyCode, id, unallocatedMinor } = loaded.value
  return (
    <FormDialog
      title="Refund"
      about="Records that the client got money back that settles no invoice."
      submitLabel="Record refund"
      onClose={onClose}
      onSubmit={async (values) => {
        const amountMinor = requiredAmountOf(values, currencyCode)
        const { reference } = filled(values)
        const body = { amountMinor, ...(reference === undefined ? {} : { reference }) }
        await withKey(`refund ${id} ${loaded.etag}`, (key) =>
          operations[kind].refund(id, body, { ...key, ...ifMatch(loaded) })
        )
        return `${formatMoney(amountMinor, currencyCode)} is refunded`
      }}
    >
      <AmountField amountMinor={unallocatedMinor} currencyCode={currencyCode} />
      <Field name="reference" label="Reference" />
    </FormDialog>
  )
}

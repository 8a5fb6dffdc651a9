import { useState } from "preact/hooks"
import { useRoute } from "preact-iso/router"
import { api, type Loaded, load, read, type Schemas } from "../../api/client.ts"
import { withKey } from "../../api/idempotency.ts"
import { findClient, findInvoice } from "../../api/lookups.ts"
import { changes, useQuery } from "../../api/query.ts"
import { hasRole, inTenant } from "../../api/session.ts"
import { Allocations } from "../../ui/Allocations.tsx"
import { Dialog } from "../../ui/Dialog.tsx"
import { Field, Form, filled } from "../../ui/Form.tsx"
import { editableAmount, formatMoney } from "../../ui/format.ts"
import { Page, Section } from "../../ui/Page.tsx"
import { Shown } from "../../ui/State.tsx"
import { notify } from "../../ui/Toasts.tsx"
import { Badge, Day, Money } from "../../ui/Value.tsx"
import { amountOf } from "../contracts/NewContract.tsx"

type PaymentValue = Schemas["Payment"]

interface DialogProps {
  readonly loaded: Loaded<PaymentValue>
  readonly onClose: () => void
}

const ifMatch = ({ etag }: Loaded<unknown>) => (etag === undefined ? {} : { "If-Match": etag })

const finish = (text: string, onClose: () => void) => {
  notify(text)
  changes.value++
  onClose()
}

const ReverseDialog = ({ loaded, onClose }: DialogProps) => (
  <Dialog title="Reverse" onClose={onClose}>
    <p>Takes the whole payment back. The invoices that it settles are open again.</p>
    <Form
      submitLabel="Reverse payment"
      onCancel={onClose}
      onSubmit={async ({ reason = "" }) => {
        const { id } = loaded.value
        await withKey(`reverse ${id}`, (key) =>
          read(
            api.POST("/api/v1/payments/{paymentId}/reverse", {
              params: { path: { paymentId: id } },
              body: { reason },
              headers: { ...key, ...ifMatch(loaded) }
            })
          )
        )
        finish("The payment is reversed", onClose)
      }}
    >
      <Field name="reason" label="Reason" isRequired placeholder="Returned direct debit" />
    </Form>
  </Dialog>
)

const RefundDialog = ({ loaded, onClose }: DialogProps) => {
  const { currencyCode, id, unallocatedMinor } = loaded.value
  return (
    <Dialog title="Refund" onClose={onClose}>
      <p>Records that the client got money back that settles no invoice.</p>
      <Form
        submitLabel="Record refund"
        onCancel={onClose}
        onSubmit={async (values) => {
          const amountMinor = amountOf(values, "amountMinor", currencyCode) ?? 0
          const { reference } = filled(values)
          await withKey(`refund ${id} ${loaded.etag}`, (key) =>
            read(
              api.POST("/api/v1/payments/{paymentId}/refund", {
                params: { path: { paymentId: id } },
                body: { amountMinor, ...(reference === undefined ? {} : { reference }) },
                headers: { ...key, ...ifMatch(loaded) }
              })
            )
          )
          finish(`${formatMoney(amountMinor, currencyCode)} is refunded`, onClose)
        }}
      >
        <Field
          name="amountMinor"
          label={`Amount in ${currencyCode}`}
          value={editableAmount(unallocatedMinor, currencyCode)}
          isRequired
        />
        <Field name="reference" label="Reference" />
      </Form>
    </Dialog>
  )
}

const Facts = ({ value }: { readonly value: PaymentValue }) => (
  <dl class="facts">
    <div>
      <dt>Client</dt>
      <dd>
        <a href={inTenant(`/clients/${value.client}`)}>{findClient(value.client)?.name ?? "…"}</a>
      </dd>
    </div>
    <div>
      <dt>Received</dt>
      <dd>
        <Day at={value.receivedAt} />
      </dd>
    </div>
    {[
      ["Method", value.method],
      ["Reference", value.reference],
      ["Reversed because", value.reversalReason]
    ].map(
      ([label, text]) =>
        text !== undefined && (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{text}</dd>
          </div>
        )
    )}
    <div>
      <dt>Left</dt>
      <dd>
        <Money amountMinor={value.unallocatedMinor} currencyCode={value.currencyCode} />
      </dd>
    </div>
  </dl>
)

/** One payment with the invoices that it settles. */
export const Payment = () => {
  const paymentId = useRoute().params["id"] ?? ""
  const [panel, setPanel] = useState<"reverse" | "refund" | undefined>(undefined)
  const query = useQuery(`payment ${paymentId}`, () =>
    load(api.GET("/api/v1/payments/{paymentId}", { params: { path: { paymentId } } }))
  )
  const close = () => setPanel(undefined)
  return (
    <Shown query={query}>
      {(loaded) => {
        const { allocations, amountMinor, currencyCode, refundedMinor, status, unallocatedMinor } = loaded.value
        const isChangeable = status === "RECORDED" && hasRole("ADMIN")
        return (
          <Page
            title={
              <>
                <Money amountMinor={amountMinor} currencyCode={currencyCode} /> <Badge status={status} />
              </>
            }
            parent={[inTenant("/payments"), "Payments"]}
            actions={
              isChangeable && (
                <>
                  {refundedMinor === 0 && (
                    <button type="button" class="quiet danger" onClick={() => setPanel("reverse")}>
                      Reverse
                    </button>
                  )}
                  {unallocatedMinor > 0 && (
                    <button type="button" onClick={() => setPanel("refund")}>
                      Refund
                    </button>
                  )}
                </>
              )
            }
          >
            <Facts value={loaded.value} />
            <Section title="Settled invoices">
              <Allocations
                allocations={allocations}
                currencyCode={currencyCode}
                numberOf={(id) => findInvoice(id)?.invoiceNumber}
              />
            </Section>
            {panel === "reverse" && <ReverseDialog loaded={loaded} onClose={close} />}
            {panel === "refund" && <RefundDialog loaded={loaded} onClose={close} />}
          </Page>
        )
      }}
    </Shown>
  )
}

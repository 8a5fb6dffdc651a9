import { useState } from "preact/hooks"
import { useRoute } from "preact-iso/router"
import { api, type Loaded, load, read, type Schemas } from "../../api/client.ts"
import { withKey } from "../../api/idempotency.ts"
import { findClient, findInvoice } from "../../api/lookups.ts"
import { useQuery } from "../../api/query.ts"
import { hasRole, inTenant } from "../../api/session.ts"
import { ifMatch } from "../../api/update.ts"
import { Facts } from "../../ui/Facts.tsx"
import { Field } from "../../ui/forms/Form.tsx"
import { FormDialog } from "../../ui/forms/FormDialog.tsx"
import { Page, Section } from "../../ui/Page.tsx"
import { Shown } from "../../ui/State.tsx"
import { Badge, Day, Money } from "../../ui/Value.tsx"
import { Allocations } from "../settling/Allocations.tsx"
import { AllocateDialog, RefundDialog } from "../settling/UseRest.tsx"

type PaymentValue = Schemas["Payment"]

interface DialogProps {
  readonly loaded: Loaded<PaymentValue>
  readonly onClose: () => void
}

const ReverseDialog = ({ loaded, onClose }: DialogProps) => (
  <FormDialog
    title="Reverse"
    about="Takes the whole payment back. The invoices that it settles are open again."
    submitLabel="Reverse payment"
    onClose={onClose}
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
      return "The payment is reversed"
    }}
  >
    <Field name="reason" label="Reason" isRequired placeholder="Returned direct debit" />
  </FormDialog>
)

const factsOf = ({
  client,
  currencyCode,
  method,
  receivedAt,
  reference,
  reversalReason,
  unallocatedMinor
}: PaymentValue) =>
  [
    [
      "Client",
      <a key="client" href={inTenant(`/clients/${client}`)}>
        {findClient(client)?.name ?? "…"}
      </a>
    ],
    ["Received", <Day key="received" at={receivedAt} />],
    ["Method", method],
    ["Reference", reference],
    ["Reversed because", reversalReason],
    ["Left", <Money key="left" amountMinor={unallocatedMinor} currencyCode={currencyCode} />]
  ] as const

/** One payment with the invoices that it settles. */
export const Payment = () => {
  const paymentId = useRoute().params["id"] ?? ""
  const [panel, setPanel] = useState<"reverse" | "refund" | "allocate" | undefined>(undefined)
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
                    <>
                      <button type="button" onClick={() => setPanel("refund")}>
                        Refund
                      </button>
                      <button type="button" class="primary" onClick={() => setPanel("allocate")}>
                        Settle an invoice
                      </button>
                    </>
                  )}
                </>
              )
            }
          >
            <Facts facts={factsOf(loaded.value)} />
            <Section title="Settled invoices">
              <Allocations
                allocations={allocations}
                currencyCode={currencyCode}
                numberOf={(id) => findInvoice(id)?.invoiceNumber}
              />
            </Section>
            {panel === "reverse" && <ReverseDialog loaded={loaded} onClose={close} />}
            {panel === "refund" && <RefundDialog kind="payment" loaded={loaded} onClose={close} />}
            {panel === "allocate" && <AllocateDialog kind="payment" loaded={loaded} onClose={close} />}
          </Page>
        )
      }}
    </Shown>
  )
}

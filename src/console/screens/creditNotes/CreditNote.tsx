import { useState } from "preact/hooks"
import { useLocation, useRoute } from "preact-iso/router"
import { api, done, type Loaded, load, read, type Schemas } from "../../api/client.ts"
import { withKey } from "../../api/idempotency.ts"
import { findClient, findInvoice } from "../../api/lookups.ts"
import { changes, useQuery } from "../../api/query.ts"
import { hasRole, inTenant } from "../../api/session.ts"
import { ifMatch } from "../../api/update.ts"
import { Facts } from "../../ui/Facts.tsx"
import { Page, Section } from "../../ui/Page.tsx"
import { PdfPreview } from "../../ui/PdfPreview.tsx"
import { Shown } from "../../ui/State.tsx"
import { attempt, notify } from "../../ui/Toasts.tsx"
import { Badge, Money } from "../../ui/Value.tsx"
import { Totals } from "../invoices/Totals.tsx"
import { Allocations } from "../settling/Allocations.tsx"
import { AllocateDialog, RefundDialog } from "../settling/UseRest.tsx"

type CreditNoteValue = Schemas["CreditNote"]

const finalize = async (loaded: Loaded<CreditNoteValue>) => {
  const { creditNoteNumber } = await withKey(`finalize ${loaded.value.id}`, (key) =>
    read(
      api.POST("/api/v1/credit-notes/{creditNoteId}/finalize", {
        params: { path: { creditNoteId: loaded.value.id }, query: {} },
        headers: { ...key, ...ifMatch(loaded) }
      })
    )
  )
  notify(`${creditNoteNumber} is issued`)
  changes.value++
}

const factsOf = ({ client, currencyCode, invoice, reason, unallocatedMinor }: CreditNoteValue) =>
  [
    [
      "Client",
      <a key="client" href={inTenant(`/clients/${client}`)}>
        {findClient(client)?.name ?? "…"}
      </a>
    ],
    [
      "Credits",
      <a key="invoice" href={inTenant(`/invoices/${invoice}`)}>
        {findInvoice(invoice)?.invoiceNumber ?? "…"}
      </a>
    ],
    ["Reason", reason],
    ["Left", <Money key="left" amountMinor={unallocatedMinor} currencyCode={currencyCode} />]
  ] as const

type Panel = "refund" | "allocate" | undefined

interface ActionsProps {
  readonly loaded: Loaded<CreditNoteValue>
  readonly open: (panel: Panel) => void
}

/** What the status and the role allow. */
const Actions = ({ loaded, open }: ActionsProps) => {
  const { route } = useLocation()
  const { invoice, status, unallocatedMinor } = loaded.value
  const remove = async () => {
    await done(
      api.DELETE("/api/v1/credit-notes/{creditNoteId}", {
        params: { path: { creditNoteId: loaded.value.id } },
        headers: ifMatch(loaded)
      })
    )
    changes.value++
    route(inTenant(`/invoices/${invoice}`))
    notify("The draft is deleted")
  }
  if (status === "DRAFT")
    return (
      <>
        {hasRole("MEMBER") && (
          <button type="button" class="quiet danger" onClick={() => attempt(remove())}>
            Delete
          </button>
        )}
        {hasRole("ADMIN") && (
          <button type="button" class="primary" onClick={() => attempt(finalize(loaded))}>
            Finalize
          </button>
        )}
      </>
    )
  if (unallocatedMinor === 0 || !hasRole("ADMIN")) return null
  return (
    <>
      <button type="button" onClick={() => open("refund")}>
        Refund
      </button>
      <button type="button" class="primary" onClick={() => open("allocate")}>
        Settle an invoice
      </button>
    </>
  )
}

/** One credit note with what it credits and settles. */
export const CreditNote = () => {
  const creditNoteId = useRoute().params["id"] ?? ""
  const [panel, setPanel] = useState<Panel>(undefined)
  const close = () => setPanel(undefined)
  const query = useQuery(`credit note ${creditNoteId}`, () =>
    load(api.GET("/api/v1/credit-notes/{creditNoteId}", { params: { path: { creditNoteId } } }))
  )
  return (
    <Shown query={query}>
      {(loaded) => {
        const { allocations, creditNoteNumber, currencyCode, status, updatedAt } = loaded.value
        return (
          <Page
            title={
              <>
                {creditNoteNumber ?? "Draft credit note"} {status !== "DRAFT" && <Badge status={status} />}
              </>
            }
            parent={[inTenant("/credit-notes"), "Credit notes"]}
            actions={<Actions loaded={loaded} open={setPanel} />}
          >
            <Facts facts={factsOf(loaded.value)} />
            <div class="columns even">
              <div>
                <Section title="Amounts">
                  <Totals amounts={loaded.value} currencyCode={currencyCode} />
                </Section>
                <Section title="Settled invoices">
                  <Allocations
                    allocations={allocations}
                    currencyCode={currencyCode}
                    numberOf={(id) => findInvoice(id)?.invoiceNumber}
                  />
                </Section>
              </div>
              <PdfPreview
                path={`/api/v1/credit-notes/${creditNoteId}/pdf`}
                name={creditNoteNumber ?? "Draft"}
                version={updatedAt}
              />
            </div>
            {panel === "refund" && <RefundDialog kind="creditNote" loaded={loaded} onClose={close} />}
            {panel === "allocate" && <AllocateDialog kind="creditNote" loaded={loaded} onClose={close} />}
          </Page>
        )
      }}
    </Shown>
  )
}

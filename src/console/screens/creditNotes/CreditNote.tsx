import { useRoute } from "preact-iso/router"
import { api, type Loaded, load, read, type Schemas } from "../../api/client.ts"
import { withKey } from "../../api/idempotency.ts"
import { findClient, findInvoice } from "../../api/lookups.ts"
import { changes, useQuery } from "../../api/query.ts"
import { hasRole, inTenant } from "../../api/session.ts"
import { ifMatch } from "../../api/update.ts"
import { Allocations } from "../../ui/Allocations.tsx"
import { Facts } from "../../ui/Facts.tsx"
import { Page, Section } from "../../ui/Page.tsx"
import { PdfPreview } from "../../ui/PdfPreview.tsx"
import { Shown } from "../../ui/State.tsx"
import { attempt, notify } from "../../ui/Toasts.tsx"
import { Badge, Money } from "../../ui/Value.tsx"
import { Totals } from "../invoices/Totals.tsx"

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

/** One credit note with what it credits and settles. */
export const CreditNote = () => {
  const creditNoteId = useRoute().params["id"] ?? ""
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
            actions={
              status === "DRAFT" &&
              hasRole("ADMIN") && (
                <button type="button" class="primary" onClick={() => attempt(finalize(loaded))}>
                  Finalize
                </button>
              )
            }
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
          </Page>
        )
      }}
    </Shown>
  )
}

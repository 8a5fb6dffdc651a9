import { useRoute } from "preact-iso/router"
import { api, type Loaded, load, read, type Schemas } from "../../api/client.ts"
import { withKey } from "../../api/idempotency.ts"
import { findClient, findInvoice } from "../../api/lookups.ts"
import { changes, useQuery } from "../../api/query.ts"
import { hasRole, inTenant } from "../../api/session.ts"
import { Allocations } from "../../ui/Allocations.tsx"
import { Page, Section } from "../../ui/Page.tsx"
import { PdfPreview } from "../../ui/PdfPreview.tsx"
import { Shown } from "../../ui/State.tsx"
import { notify } from "../../ui/Toasts.tsx"
import { Badge, Money } from "../../ui/Value.tsx"
import { Totals } from "../invoices/Totals.tsx"

type CreditNoteValue = Schemas["CreditNote"]

const finalize = async ({ etag, value }: Loaded<CreditNoteValue>) => {
  const { creditNoteNumber } = await withKey(`finalize ${value.id}`, (key) =>
    read(
      api.POST("/api/v1/credit-notes/{creditNoteId}/finalize", {
        params: { path: { creditNoteId: value.id }, query: {} },
        headers: { ...key, ...(etag === undefined ? {} : { "If-Match": etag }) }
      })
    )
  )
  notify(`${creditNoteNumber} is issued`)
  changes.value++
}

const Facts = ({ value }: { readonly value: CreditNoteValue }) => (
  <dl class="facts">
    <div>
      <dt>Client</dt>
      <dd>
        <a href={inTenant(`/clients/${value.client}`)}>{findClient(value.client)?.name ?? "…"}</a>
      </dd>
    </div>
    <div>
      <dt>Credits</dt>
      <dd>
        <a href={inTenant(`/invoices/${value.invoice}`)}>{findInvoice(value.invoice)?.invoiceNumber ?? "…"}</a>
      </dd>
    </div>
    <div>
      <dt>Reason</dt>
      <dd>{value.reason}</dd>
    </div>
    <div>
      <dt>Left</dt>
      <dd>
        <Money amountMinor={value.unallocatedMinor} currencyCode={value.currencyCode} />
      </dd>
    </div>
  </dl>
)

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
                <button
                  type="button"
                  class="primary"
                  onClick={() =>
                    void finalize(loaded).catch((cause: unknown) => notify(String(cause), { isError: true }))
                  }
                >
                  Finalize
                </button>
              )
            }
          >
            <Facts value={loaded.value} />
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

import { api, load, type Schemas } from "../../api/client.ts"
import { findClient } from "../../api/lookups.ts"
import { usePages } from "../../api/query.ts"
import { inTenant, tenantId } from "../../api/session.ts"
import { ChoiceFilter, useFilters } from "../../ui/Filters.tsx"
import { Page } from "../../ui/Page.tsx"
import { PagedList } from "../../ui/PagedList.tsx"
import { Badge, Day, Money } from "../../ui/Value.tsx"

type Status = Schemas["CreditNote"]["status"]

const statuses = [
  ["", "Every status"],
  ["DRAFT", "Draft"],
  ["FINALIZED", "Finalized"]
] as const

const isStatus = (text: string | undefined): text is Status => text === "DRAFT" || text === "FINALIZED"

/** All credit notes, oldest first. */
export const CreditNotes = () => {
  const { filters, setFilter } = useFilters()
  const { status } = filters
  const query = { limit: 100, ...(isStatus(status) ? { status } : {}) }
  const pages = usePages(`credit notes ${tenantId.value} ${status ?? ""}`, (cursor) =>
    load(api.GET("/api/v1/credit-notes", { params: { query: { ...query, ...(cursor && { cursor }) } } }))
  )
  return (
    <Page title="Credit notes">
      <search class="filters">
        <ChoiceFilter
          label="Status"
          value={status}
          options={statuses}
          onChoose={(value) => setFilter("status", value)}
        />
      </search>
      <PagedList
        pages={pages}
        label="Credit notes"
        keyOf={({ id }) => id}
        empty="A credit note begins at its invoice."
        row={({ client, createdAt, creditNoteNumber, currencyCode, id, issuedAt, reason, status, totalMinor }) => (
          <a class="row" href={inTenant(`/credit-notes/${id}`)}>
            <span class="row-main">
              <strong>{creditNoteNumber ?? "Draft"}</strong>
              <span class="muted">{findClient(client)?.name ?? "…"}</span>
            </span>
            <span class="muted wide-only">{reason}</span>
            <span class="muted wide-only">
              <Day at={issuedAt ?? createdAt} />
            </span>
            <span class="row-side">
              <Money amountMinor={totalMinor} currencyCode={currencyCode} />
              <Badge status={status} />
            </span>
          </a>
        )}
      />
    </Page>
  )
}

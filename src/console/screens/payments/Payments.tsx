import { api, load, type Schemas } from "../../api/client.ts"
import { findClient } from "../../api/lookups.ts"
import { usePages } from "../../api/query.ts"
import { inTenant, tenantId } from "../../api/session.ts"
import { ChoiceFilter, useFilters } from "../../ui/Filters.tsx"
import { Page } from "../../ui/Page.tsx"
import { PagedList } from "../../ui/PagedList.tsx"
import { Badge, Day, Money } from "../../ui/Value.tsx"

type Status = Schemas["Payment"]["status"]

const statuses = [
  ["", "Every status"],
  ["RECORDED", "Recorded"],
  ["REVERSED", "Reversed"]
] as const

const isStatus = (text: string | undefined): text is Status => text === "RECORDED" || text === "REVERSED"

/** All payments, oldest first. */
export const Payments = () => {
  const { filters, setFilter } = useFilters()
  const { status } = filters
  const query = { limit: 100, ...(isStatus(status) ? { status } : {}) }
  const pages = usePages(`payments ${tenantId.value} ${status ?? ""}`, (cursor) =>
    load(api.GET("/api/v1/payments", { params: { query: { ...query, ...(cursor && { cursor }) } } }))
  )
  return (
    <Page title="Payments">
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
        label="Payments"
        keyOf={({ id }) => id}
        empty="A payment is recorded at its invoice."
        row={({ amountMinor, client, currencyCode, id, receivedAt, reference, status, unallocatedMinor }) => (
          <a class="row" href={inTenant(`/payments/${id}`)}>
            <span class="row-main">
              <strong>{findClient(client)?.name ?? "…"}</strong>
              <span class="muted">{reference}</span>
            </span>
            <span class="muted wide-only">
              received <Day at={receivedAt} />
            </span>
            <span class="muted wide-only">
              {unallocatedMinor > 0 && (
                <>
                  <Money amountMinor={unallocatedMinor} currencyCode={currencyCode} /> left
                </>
              )}
            </span>
            <span class="row-side">
              <Money amountMinor={amountMinor} currencyCode={currencyCode} />
              <Badge status={status} />
            </span>
          </a>
        )}
      />
    </Page>
  )
}

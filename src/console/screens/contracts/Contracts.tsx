import { api, load, type Schemas } from "../../api/client.ts"
import { findClient } from "../../api/lookups.ts"
import { usePages } from "../../api/query.ts"
import { inTenant, tenantId } from "../../api/session.ts"
import { ChoiceFilter, SearchFilter, useFilters } from "../../ui/Filters.tsx"
import { Page } from "../../ui/Page.tsx"
import { PagedList } from "../../ui/PagedList.tsx"
import { Badge } from "../../ui/Value.tsx"

type Status = Schemas["Contract"]["status"]

const statuses: ReadonlyArray<readonly [value: string, label: string]> = [
  ["", "Every status"],
  ["DRAFT", "Draft"],
  ["ACTIVE", "Active"],
  ["ENDED", "Ended"]
]

const isStatus = (text: string | undefined): text is Status =>
  text !== undefined && text !== "" && statuses.some(([value]) => value === text)

/** All contracts, by name. */
export const Contracts = () => {
  const { filters, setFilter } = useFilters()
  const { q, status } = filters
  const query = {
    sort: "name" as const,
    limit: 100,
    ...(q && q.length > 1 ? { q } : {}),
    ...(isStatus(status) ? { status } : {})
  }
  const pages = usePages(`contracts ${tenantId.value} ${JSON.stringify(query)}`, (cursor) =>
    load(api.GET("/api/v1/contracts", { params: { query: { ...query, ...(cursor && { cursor }) } } }))
  )
  return (
    <Page title="Contracts">
      <search class="filters">
        <SearchFilter label="Search by name" value={q} onSearch={(text) => setFilter("q", text)} />
        <ChoiceFilter
          label="Status"
          value={status}
          options={statuses}
          onChoose={(value) => setFilter("status", value)}
        />
      </search>
      <PagedList
        pages={pages}
        label="Contracts"
        keyOf={({ id }) => id}
        empty="A contract begins at its client."
        row={({ client, currencyCode, id, name, status }) => (
          <a class="row" href={inTenant(`/contracts/${id}`)}>
            <span class="row-main">
              <strong>{name}</strong>
              <span class="muted">{findClient(client)?.name ?? ""}</span>
            </span>
            <span class="row-side inline">
              <span class="muted wide-only">{currencyCode}</span>
              <Badge status={status} />
            </span>
          </a>
        )}
      />
    </Page>
  )
}

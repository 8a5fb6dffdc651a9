import { api, load } from "../../api/client.ts"
import { findClient } from "../../api/lookups.ts"
import { inTenant } from "../../api/session.ts"
import { SearchFilter, StatusFilter, searchQuery, statusQuery, useFilters } from "../../ui/lists/Filters.tsx"
import { ListScreen } from "../../ui/lists/ListScreen.tsx"
import { RowLink } from "../../ui/lists/RowLink.tsx"
import { Badge } from "../../ui/Value.tsx"

const statuses = ["DRAFT", "ACTIVE", "ENDED"] as const

/** All contracts, by name. */
export const Contracts = () => {
  const { filters } = useFilters()
  return (
    <ListScreen
      title="Contracts"
      filters={
        <>
          <SearchFilter label="Search by name" />
          <StatusFilter statuses={statuses} />
        </>
      }
      query={{ sort: "name" as const, limit: 100, ...searchQuery(filters), ...statusQuery(filters, statuses) }}
      readPage={(query) => load(api.GET("/api/v1/contracts", { params: { query } }))}
      empty="A contract begins at its client."
      row={({ client, currencyCode, id, name, status }) => (
        <RowLink
          href={inTenant(`/contracts/${id}`)}
          title={name}
          about={findClient(client)?.name ?? ""}
          isInline
          side={
            <>
              <span class="muted wide-only">{currencyCode}</span>
              <Badge status={status} />
            </>
          }
        />
      )}
    />
  )
}

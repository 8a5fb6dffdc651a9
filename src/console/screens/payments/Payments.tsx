import { api, load } from "../../api/client.ts"
import { findClient } from "../../api/lookups.ts"
import { inTenant } from "../../api/session.ts"
import { StatusFilter, statusQuery, useFilters } from "../../ui/lists/Filters.tsx"
import { ListScreen } from "../../ui/lists/ListScreen.tsx"
import { RowLink } from "../../ui/lists/RowLink.tsx"
import { Badge, Day, Money } from "../../ui/Value.tsx"

const statuses = ["RECORDED", "REVERSED"] as const

/** All payments, oldest first. */
export const Payments = () => {
  const { filters } = useFilters()
  return (
    <ListScreen
      title="Payments"
      filters={<StatusFilter statuses={statuses} />}
      query={{ limit: 100, ...statusQuery(filters, statuses) }}
      readPage={(query) => load(api.GET("/api/v1/payments", { params: { query } }))}
      empty="A payment is recorded at its invoice."
      row={({ amountMinor, client, currencyCode, id, receivedAt, reference, status, unallocatedMinor }) => (
        <RowLink
          href={inTenant(`/payments/${id}`)}
          title={findClient(client)?.name ?? "…"}
          about={reference}
          columns={[
            <>
              received <Day at={receivedAt} />
            </>,
            unallocatedMinor > 0 && (
              <>
                <Money amountMinor={unallocatedMinor} currencyCode={currencyCode} /> left
              </>
            )
          ]}
          side={
            <>
              <Money amountMinor={amountMinor} currencyCode={currencyCode} />
              <Badge status={status} />
            </>
          }
        />
      )}
    />
  )
}

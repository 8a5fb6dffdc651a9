import { api, load } from "../../api/client.ts"
import { findClient } from "../../api/lookups.ts"
import { inTenant } from "../../api/session.ts"
import { StatusFilter, statusQuery, useFilters } from "../../ui/lists/Filters.tsx"
import { ListScreen } from "../../ui/lists/ListScreen.tsx"
import { RowLink } from "../../ui/lists/RowLink.tsx"
import { Badge, Day, Money } from "../../ui/Value.tsx"

const statuses = ["DRAFT", "FINALIZED"] as const

/** All credit notes, oldest first. */
export const CreditNotes = () => {
  const { filters } = useFilters()
  return (
    <ListScreen
      title="Credit notes"
      filters={<StatusFilter statuses={statuses} />}
      query={{ limit: 100, ...statusQuery(filters, statuses) }}
      readPage={(query) => load(api.GET("/api/v1/credit-notes", { params: { query } }))}
      empty="A credit note begins at its invoice."
      row={({ client, createdAt, creditNoteNumber, currencyCode, id, issuedAt, reason, status, totalMinor }) => (
        <RowLink
          href={inTenant(`/credit-notes/${id}`)}
          title={creditNoteNumber ?? "Draft"}
          about={findClient(client)?.name ?? "…"}
          columns={[reason, <Day key="day" at={issuedAt ?? createdAt} />]}
          side={
            <>
              <Money amountMinor={totalMinor} currencyCode={currencyCode} />
              <Badge status={status} />
            </>
          }
        />
      )}
    />
  )
}

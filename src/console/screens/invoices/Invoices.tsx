import { api, load, type Schemas } from "../../api/client.ts"
import { findClient, findClientOf } from "../../api/lookups.ts"
import { inTenant } from "../../api/session.ts"
import {
  ChoiceFilter,
  DayFilter,
  SearchFilter,
  searchQuery,
  statusOptions,
  statusQuery,
  useFilters
} from "../../ui/lists/Filters.tsx"
import { ListScreen } from "../../ui/lists/ListScreen.tsx"
import { RowLink } from "../../ui/lists/RowLink.tsx"
import { Badge, Day, Money } from "../../ui/Value.tsx"
import { invoiceTitle } from "./invoiceTitle.ts"
import { isOverdue } from "./overdue.ts"

const statuses = ["DRAFT", "FINALIZED", "PAID", "VOID"] as const

/** Overdue is no status of its own: the API has a filter for it. */
const statusChoices = [...statusOptions(statuses), ["overdue", "Overdue"] as const]

const sorts = [
  ["-createdAt", "Newest first"],
  ["createdAt", "Oldest first"],
  ["dueAt", "Due first"],
  ["-issuedAt", "Issued last"]
] as const

/** The query of the list, from the address. What the address does not know is left out. */
const toQuery = (filters: Readonly<Record<string, string>>) => {
  const { clientId, issuedFrom, issuedTo, overdue, sort } = filters
  return {
    limit: 100,
    sort: sorts.map(([value]) => value).find((value) => value === sort) ?? ("-createdAt" as const),
    ...searchQuery(filters),
    ...statusQuery(filters, statuses),
    ...(overdue === "true" ? { overdue: true } : {}),
    ...(clientId ? { clientId } : {}),
    ...(issuedFrom ? { issuedFrom } : {}),
    ...(issuedTo ? { issuedTo } : {})
  }
}

const InvoiceRow = ({ invoice }: { readonly invoice: Schemas["Invoice"] }) => {
  const { contract, createdAt, currencyCode, dueAt, id, issuedAt, status, totalMinor } = invoice
  return (
    <RowLink
      href={inTenant(`/invoices/${id}`)}
      title={invoiceTitle(invoice)}
      about={findClientOf(contract)?.name ?? ""}
      columns={[
        <>
          {issuedAt === undefined ? "created " : "issued "}
          <Day at={issuedAt ?? createdAt} />
        </>,
        dueAt !== undefined && (
          <>
            due <Day at={dueAt} />
          </>
        )
      ]}
      side={
        <>
          <Money amountMinor={totalMinor} currencyCode={currencyCode} />
          <Badge status={isOverdue(invoice) ? "OVERDUE" : status} />
        </>
      }
    />
  )
}

const InvoiceFilters = ({ sort }: { readonly sort: string }) => {
  const { filters, setFilter, setFilters } = useFilters()
  const { clientId, overdue, status } = filters
  return (
    <>
      <SearchFilter label="Search by number or client" />
      <ChoiceFilter
        label="Status"
        value={overdue === "true" ? "overdue" : status}
        options={statusChoices}
        onChoose={(value) =>
          setFilters(value === "overdue" ? { status: "", overdue: "true" } : { status: value, overdue: "" })
        }
      />
      <ChoiceFilter label="Order" value={sort} options={sorts} onChoose={(value) => setFilter("sort", value)} />
      <DayFilter label="from" name="issuedFrom" />
      <DayFilter label="to" name="issuedTo" />
      {clientId && (
        <button type="button" class="chip" onClick={() => setFilter("clientId", "")}>
          {findClient(clientId)?.name ?? "One client"} <span aria-hidden="true">×</span>
          <span class="sr">remove this filter</span>
        </button>
      )}
    </>
  )
}

/** All invoices, with filters that live in the address. */
export const Invoices = () => {
  const query = toQuery(useFilters().filters)
  return (
    <ListScreen
      title="Invoices"
      filters={<InvoiceFilters sort={query.sort} />}
      query={query}
      readPage={(page) => load(api.GET("/api/v1/invoices", { params: { query: page } }))}
      empty="An invoice begins at its contract."
      row={(invoice) => <InvoiceRow invoice={invoice} />}
    />
  )
}

import { api, load, type Schemas } from "../../api/client.ts"
import { findClient, findClientOf } from "../../api/lookups.ts"
import { usePages } from "../../api/query.ts"
import { inTenant, tenantId } from "../../api/session.ts"
import { ChoiceFilter, DayFilter, SearchFilter, useFilters } from "../../ui/Filters.tsx"
import { Page } from "../../ui/Page.tsx"
import { PagedList } from "../../ui/PagedList.tsx"
import { Badge, Day, Money } from "../../ui/Value.tsx"
import { invoiceTitle } from "./invoiceTitle.ts"
import { isOverdue } from "./overdue.ts"

type InvoiceValue = Schemas["Invoice"]

/** The choices of the status filter. Overdue is no status of its own: the API has a filter for it. */
const statuses: ReadonlyArray<readonly [value: string, label: string]> = [
  ["", "Every status"],
  ["DRAFT", "Draft"],
  ["FINALIZED", "Finalized"],
  ["overdue", "Overdue"],
  ["PAID", "Paid"],
  ["VOID", "Void"]
]

const sorts = [
  ["-createdAt", "Newest first"],
  ["createdAt", "Oldest first"],
  ["dueAt", "Due first"],
  ["-issuedAt", "Issued last"]
] as const

const isStatus = (text: string | undefined): text is InvoiceValue["status"] =>
  text !== undefined && text !== "" && text !== "overdue" && statuses.some(([value]) => value === text)

/** The query of the list, from the address. What the address does not know is left out. */
const toQuery = ({ clientId, issuedFrom, issuedTo, overdue, q, sort, status }: Readonly<Record<string, string>>) => ({
  limit: 100,
  sort: sorts.map(([value]) => value).find((value) => value === sort) ?? ("-createdAt" as const),
  ...(q && q.length > 1 ? { q } : {}),
  ...(isStatus(status) ? { status } : {}),
  ...(overdue === "true" ? { overdue: true } : {}),
  ...(clientId ? { clientId } : {}),
  ...(issuedFrom ? { issuedFrom } : {}),
  ...(issuedTo ? { issuedTo } : {})
})

const InvoiceRow = ({ invoice }: { readonly invoice: InvoiceValue }) => {
  const { contract, createdAt, currencyCode, dueAt, id, invoiceNumber, issuedAt, status, totalMinor } = invoice
  return (
    <a class="row" href={inTenant(`/invoices/${id}`)}>
      <span class="row-main">
        <strong>{invoiceTitle({ invoiceNumber, status })}</strong>
        <span class="muted">{findClientOf(contract)?.name ?? ""}</span>
      </span>
      <span class="muted wide-only">
        {issuedAt === undefined ? "created " : "issued "}
        <Day at={issuedAt ?? createdAt} />
      </span>
      <span class="muted wide-only">
        {dueAt !== undefined && (
          <>
            due <Day at={dueAt} />
          </>
        )}
      </span>
      <span class="row-side">
        <Money amountMinor={totalMinor} currencyCode={currencyCode} />
        <Badge status={isOverdue(invoice) ? "OVERDUE" : status} />
      </span>
    </a>
  )
}

/** All invoices, with filters that live in the address. */
export const Invoices = () => {
  const { filters, setFilter, setFilters } = useFilters()
  const query = toQuery(filters)
  const { clientId, issuedFrom, issuedTo, overdue, q, status } = filters
  const pages = usePages(`invoices ${tenantId.value} ${JSON.stringify(query)}`, (cursor) =>
    load(api.GET("/api/v1/invoices", { params: { query: { ...query, ...(cursor && { cursor }) } } }))
  )
  return (
    <Page title="Invoices">
      <search class="filters">
        <SearchFilter label="Search by number or client" value={q} onSearch={(text) => setFilter("q", text)} />
        <ChoiceFilter
          label="Status"
          value={overdue === "true" ? "overdue" : status}
          options={statuses}
          onChoose={(value) =>
            setFilters(value === "overdue" ? { status: "", overdue: "true" } : { status: value, overdue: "" })
          }
        />
        <ChoiceFilter label="Order" value={query.sort} options={sorts} onChoose={(value) => setFilter("sort", value)} />
        <DayFilter label="from" value={issuedFrom} onChoose={(day) => setFilter("issuedFrom", day)} />
        <DayFilter label="to" value={issuedTo} onChoose={(day) => setFilter("issuedTo", day)} />
        {clientId && (
          <button type="button" class="chip" onClick={() => setFilter("clientId", "")}>
            {findClient(clientId)?.name ?? "One client"} <span aria-hidden="true">×</span>
            <span class="sr">remove this filter</span>
          </button>
        )}
      </search>
      <PagedList
        pages={pages}
        label="Invoices"
        keyOf={({ id }) => id}
        empty="An invoice begins at its contract."
        row={(invoice) => <InvoiceRow invoice={invoice} />}
      />
    </Page>
  )
}

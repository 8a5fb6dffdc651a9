import type { ComponentChildren } from "preact"
import { sumMinor } from "../../../domain/money/Money.ts"
import { api, type Loaded, load, read, type Schemas } from "../../api/client.ts"
import { findClientOf } from "../../api/lookups.ts"
import { useQuery } from "../../api/query.ts"
import { inTenant, tenant, tenantId } from "../../api/session.ts"
import { RowLink } from "../../ui/lists/RowLink.tsx"
import { Page, Section } from "../../ui/Page.tsx"
import { Empty, Shown } from "../../ui/State.tsx"
import { Badge, Day, Money } from "../../ui/Value.tsx"
import { invoiceTitle } from "../invoices/invoiceTitle.ts"

type Invoice = Schemas["Invoice"]

/** The API returns at most this many items of a page. A tile shows more with a plus sign. */
const pageSize = 200
const shownInvoices = 5

interface Count {
  readonly items: number
  readonly hasMore: boolean
}

const countOf = ({ cursor, value }: Loaded<ReadonlyArray<unknown>>): Count => ({
  items: value.length,
  hasMore: cursor !== undefined
})

const countUnbilled = async (integrations: ReadonlyArray<Schemas["Integration"]>): Promise<Count> => {
  const trackers = integrations.filter(({ provider }) => provider === "JIRA")
  const counts = await Promise.all(
    trackers.map(async ({ id }) =>
      countOf(
        await load(
          api.GET("/api/v1/integrations/{integrationId}/issues", {
            params: { path: { integrationId: id }, query: { billed: false, deleted: false, limit: pageSize } }
          })
        )
      )
    )
  )
  return { items: counts.reduce((sum, { items }) => sum + items, 0), hasMore: counts.some(({ hasMore }) => hasMore) }
}

const readHome = async () => {
  const [totals, drafts, overdue, integrations] = await Promise.all([
    read(api.GET("/api/v1/reports/aging/totals", { params: { query: {} } })),
    load(api.GET("/api/v1/invoices", { params: { query: { status: "DRAFT", limit: pageSize, sort: "-createdAt" } } })),
    load(api.GET("/api/v1/invoices", { params: { query: { overdue: true, limit: pageSize, sort: "dueAt" } } })),
    load(api.GET("/api/v1/integrations", { params: { query: { limit: pageSize } } }))
  ])
  return {
    open: totals.map(({ currencyCode, openMinor }) => ({ currencyCode, amountMinor: openMinor })),
    drafts,
    overdue,
    failing: integrations.value.filter(({ status }) => status === "ERROR" || status === "PENDING_AUTH"),
    unbilled: await countUnbilled(integrations.value)
  }
}

interface Sum {
  readonly currencyCode: string
  readonly amountMinor: number
}

const sumBalances = (invoices: ReadonlyArray<Invoice>): ReadonlyArray<Sum> =>
  [...new Set(invoices.map(({ currencyCode }) => currencyCode))].sort().map((currencyCode) => {
    const balances = invoices.filter((invoice) => invoice.currencyCode === currencyCode)
    return { currencyCode, amountMinor: sumMinor(...balances.map(({ balanceMinor }) => balanceMinor)) ?? 0 }
  })

const Amounts = ({ hasMore = false, sums }: { readonly sums: ReadonlyArray<Sum>; readonly hasMore?: boolean }) => {
  const shown = sums.filter(({ amountMinor }) => amountMinor !== 0)
  if (shown.length === 0) return <>None</>
  return (
    <>
      {shown.map((sum) => (
        <div key={sum.currencyCode}>
          <Money {...sum} />
          {hasMore && "+"}
        </div>
      ))}
    </>
  )
}

interface TileProps {
  readonly href: string
  readonly label: string
  readonly isBad?: boolean
  readonly children: ComponentChildren
}

const Tile = ({ children, href, isBad = false, label }: TileProps) => (
  <a class={isBad ? "tile bad" : "tile"} href={href}>
    <span class="tile-label">{label}</span>
    <span class="tile-value">{children}</span>
  </a>
)

const shownCount = ({ hasMore, items }: Count) => (items === 0 ? "None" : `${items}${hasMore ? "+" : ""}`)

interface InvoiceRowsProps {
  readonly invoices: ReadonlyArray<Invoice>
  readonly empty: string
  readonly about: (invoice: Invoice) => ComponentChildren
}

const InvoiceRows = ({ about, empty, invoices }: InvoiceRowsProps) =>
  invoices.length === 0 ? (
    <Empty title={empty} />
  ) : (
    <ul class="rows">
      {invoices.slice(0, shownInvoices).map((invoice) => (
        <li key={invoice.id}>
          <RowLink
            href={inTenant(`/invoices/${invoice.id}`)}
            title={findClientOf(invoice.contract)?.name ?? "…"}
            about={invoiceTitle(invoice)}
            side={
              <>
                <Money amountMinor={invoice.balanceMinor} currencyCode={invoice.currencyCode} />
                <small class="muted">{about(invoice)}</small>
              </>
            }
          />
        </li>
      ))}
    </ul>
  )

const Failing = ({ integrations }: { readonly integrations: ReadonlyArray<Schemas["Integration"]> }) => (
  <Section title="Integrations that need you">
    <ul class="rows">
      {integrations.map(({ id, name, status, statusReason }) => (
        <li key={id}>
          <a class="row" href={inTenant(`/integrations/${id}`)}>
            <span class="row-main">
              <strong>{name}</strong>
              <span class="muted">{statusReason ?? "Waits for its authorization"}</span>
            </span>
            <Badge status={status} />
          </a>
        </li>
      ))}
    </ul>
  </Section>
)

/** What is open, late or stuck, each with the way to it. */
export const Home = () => {
  const query = useQuery(`home ${tenantId.value}`, readHome)
  return (
    <Page title={tenant.value?.name ?? "Home"}>
      <Shown query={query}>
        {({ drafts, failing, open, overdue, unbilled }) => (
          <>
            <div class="tiles">
              <Tile label="Open" href={inTenant("/invoices?status=FINALIZED")}>
                <Amounts sums={open} />
              </Tile>
              <Tile
                label="Overdue"
                isBad={overdue.value.length > 0}
                href={inTenant("/invoices?overdue=true&sort=dueAt")}
              >
                <Amounts sums={sumBalances(overdue.value)} hasMore={overdue.cursor !== undefined} />
              </Tile>
              <Tile label="Drafts" href={inTenant("/invoices?status=DRAFT")}>
                {shownCount(countOf(drafts))}
              </Tile>
              <Tile label="Issues to bill" href={inTenant("/contracts?status=ACTIVE")}>
                {shownCount(unbilled)}
              </Tile>
            </div>
            {failing.length > 0 && <Failing integrations={failing} />}
            <div class="columns halves">
              <Section title="Overdue longest">
                <InvoiceRows
                  invoices={overdue.value}
                  empty="Nothing is overdue"
                  about={({ dueAt }) => (
                    <>
                      due <Day at={dueAt} />
                    </>
                  )}
                />
              </Section>
              <Section title="Latest drafts">
                <InvoiceRows
                  invoices={drafts.value}
                  empty="No draft is waiting"
                  about={({ billableCount }) => `${billableCount} ${billableCount === 1 ? "line" : "lines"}`}
                />
              </Section>
            </div>
          </>
        )}
      </Shown>
    </Page>
  )
}

import { useState } from "preact/hooks"
import { api, load, type Schemas } from "../../../api/client.ts"
import { usePages } from "../../../api/query.ts"
import { hasRole } from "../../../api/session.ts"
import { DayFilter, StatusFilter, statusQuery, useFilters } from "../../../ui/lists/Filters.tsx"
import { PagedList } from "../../../ui/lists/PagedList.tsx"
import { Badge, Time } from "../../../ui/Value.tsx"
import { EventTypeFilter, isEventPattern } from "../../events/EventTypeOptions.tsx"
import type { IntegrationValue } from "../providers.ts"
import { DeliveryDialog } from "./DeliveryDialog.tsx"
import { RedeliverDialog } from "./RedeliverDialog.tsx"

type Delivery = Schemas["Delivery"]

const statuses = ["PENDING", "WAITING", "DELIVERED", "EXHAUSTED", "UNCERTAIN"] as const satisfies ReadonlyArray<
  Delivery["status"]
>

const dayPattern = /^\d{4}-\d\d-\d\d$/
const isDay = (text: string | undefined): text is string => text !== undefined && dayPattern.test(text)

/** The query of the list, from the address. What the address does not know is left out. */
const toQuery = ({ from, to, type, ...filters }: Readonly<Record<string, string>>) => ({
  limit: 100,
  sort: "-createdAt" as const,
  ...statusQuery(filters, statuses),
  ...(isEventPattern(type) ? { eventType: type } : {}),
  ...(isDay(from) ? { since: `${from}T00:00:00.000Z` } : {}),
  ...(isDay(to) ? { until: `${to}T23:59:59.999Z` } : {})
})

/** How often the list looks for news, unless somebody has scrolled on. */
const pollMs = 3000

/** What a row says about a delivery beside its status. */
const outcomeOf = ({ attempts, error, recipient, responseStatus }: Delivery) =>
  [
    recipient,
    error ?? (responseStatus === undefined ? undefined : `answered ${responseStatus}`),
    attempts > 1 ? `${attempts} attempts` : undefined
  ]
    .filter((text) => text !== undefined)
    .join(" · ")

const DeliveryRow = ({ delivery, href }: { readonly delivery: Delivery; readonly href: string }) => (
  <a class="row" href={href}>
    <span class="row-main">
      <strong>{delivery.eventType}</strong>
      <span class={delivery.error === undefined ? "muted" : "bad"}>{outcomeOf(delivery)}</span>
    </span>
    <span class="muted wide-only moment">
      <Time at={delivery.createdAt} />
    </span>
    <span class="row-side">
      <Badge status={delivery.status} />
    </span>
  </a>
)

/** What was sent, newest first, and what came of it. */
export const Deliveries = ({ integration }: { readonly integration: IntegrationValue }) => {
  const { filters, hrefWith, setFilter } = useFilters()
  const [isRedelivering, setRedelivering] = useState(false)
  const { delivery, type } = filters
  const query = toQuery(filters)
  const params = { path: { integrationId: integration.id } }
  const pages = usePages(
    `deliveries ${integration.id} ${JSON.stringify(query)}`,
    (cursor) =>
      load(
        api.GET("/api/v1/integrations/{integrationId}/deliveries", {
          params: { ...params, query: { ...query, ...(cursor && { cursor }) } }
        })
      ),
    { pollMs }
  )
  return (
    <>
      <search class="filters">
        <StatusFilter statuses={statuses} />
        <EventTypeFilter value={type} onChoose={(value) => setFilter("type", value)} />
        <DayFilter label="from" name="from" />
        <DayFilter label="to" name="to" />
        {hasRole("ADMIN") && (
          <button type="button" onClick={() => setRedelivering(true)}>
            Redeliver many…
          </button>
        )}
      </search>
      <PagedList
        pages={pages}
        label="Deliveries"
        keyOf={({ id }) => id}
        empty="A delivery is made for every event that a subscription selects."
        row={(one) => <DeliveryRow delivery={one} href={hrefWith({ delivery: one.id })} />}
      />
      {delivery !== undefined && (
        <DeliveryDialog integration={integration} deliveryId={delivery} onClose={() => setFilter("delivery", "")} />
      )}
      {isRedelivering && <RedeliverDialog integrationId={integration.id} onClose={() => setRedelivering(false)} />}
    </>
  )
}

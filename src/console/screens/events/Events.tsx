import { useState } from "preact/hooks"
import { tenantId } from "../../api/session.ts"
import { useFilters } from "../../ui/lists/Filters.tsx"
import { PagedList } from "../../ui/lists/PagedList.tsx"
import { Page } from "../../ui/Page.tsx"
import { Time } from "../../ui/Value.tsx"
import { EventDialog } from "./EventDialog.tsx"
import { EventTypeFilter, isEventPattern } from "./EventTypeOptions.tsx"
import { type FeedRow, useFeed } from "./feed.ts"

const EventRow = ({ event, href }: { readonly event: FeedRow; readonly href: string }) => (
  <a class="row" href={href}>
    <span class="row-main">
      <strong>{event.type}</strong>
      <span class="muted">{event.name}</span>
    </span>
    <span class="muted wide-only">{event.createdBy !== undefined && `by ${event.createdBy}`}</span>
    <span class="row-side muted moment">
      <Time at={event.timestamp} />
    </span>
  </a>
)

/** Everything that happens in the tenant, newest first, while it happens. */
export const Events = () => {
  const { filters, hrefWith, setFilter } = useFilters()
  const [isStopped, setStopped] = useState(false)
  const [isAway, setAway] = useState(false)
  const { event, type } = filters
  const pattern = isEventPattern(type) ? type : undefined
  const isReading = isAway || event !== undefined
  const feed = useFeed(`events ${tenantId.value} ${pattern ?? ""}`, pattern, isStopped || isReading)
  const state = isStopped ? "Paused" : isReading ? "Paused while you read" : "Live"
  return (
    <Page
      title="Events"
      actions={
        <>
          <span class={state === "Live" ? "live" : "live off"} role="status">
            {state}
          </span>
          <button type="button" aria-pressed={isStopped} onClick={() => setStopped(!isStopped)}>
            {isStopped ? "Resume" : "Pause"}
          </button>
        </>
      }
    >
      <search class="filters">
        <EventTypeFilter value={pattern} onChoose={(value) => setFilter("type", value)} />
      </search>
      <PagedList
        pages={feed}
        label="Events"
        keyOf={({ id }) => id}
        empty="Every change makes an event. It appears here by itself."
        row={(one) => <EventRow event={one} href={hrefWith({ event: one.id })} />}
        onScrolled={setAway}
      />
      {event !== undefined && <EventDialog eventId={event} onClose={() => setFilter("event", "")} />}
    </Page>
  )
}

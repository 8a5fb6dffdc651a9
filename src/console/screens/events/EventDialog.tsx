import { describeEvent } from "../../../domain/events/EventActions.ts"
import { api, read } from "../../api/client.ts"
import { findClient } from "../../api/lookups.ts"
import { useQuery } from "../../api/query.ts"
import { inTenant } from "../../api/session.ts"
import { Code } from "../../ui/Code.tsx"
import { Dialog } from "../../ui/forms/Dialog.tsx"
import { Shown } from "../../ui/State.tsx"
import { Time } from "../../ui/Value.tsx"
import { pathOfResource } from "./resourceOf.ts"

interface EventDialogProps {
  readonly eventId: string
  readonly onClose: () => void
}

/** One event as integrations get it, with the way to what it is about. */
export const EventDialog = ({ eventId, onClose }: EventDialogProps) => {
  const query = useQuery(`event ${eventId}`, () =>
    read(api.GET("/api/v1/events/{eventId}", { params: { path: { eventId } } }))
  )
  return (
    <Dialog title="Event" onClose={onClose} isWide>
      <Shown query={query}>
        {(event) => {
          const path = pathOfResource(event)
          return (
            <>
              <p class="delivery-head">
                <strong>{describeEvent(event.type)}</strong> <code>{event.type}</code>
              </p>
              <dl class="facts">
                <div>
                  <dt>When</dt>
                  <dd>
                    <Time at={event.timestamp} />
                  </dd>
                </div>
                <div>
                  <dt>By</dt>
                  <dd>{event.createdBy ?? "the service"}</dd>
                </div>
                {event.client !== undefined && (
                  <div>
                    <dt>Client</dt>
                    <dd>{findClient(event.client)?.name ?? "…"}</dd>
                  </div>
                )}
              </dl>
              <Code label="The event as JSON" text={JSON.stringify(event)} />
              {path !== undefined && (
                <footer class="actions">
                  <a class="button" href={inTenant(path)}>
                    Open what it is about
                  </a>
                </footer>
              )}
            </>
          )
        }}
      </Shown>
    </Dialog>
  )
}

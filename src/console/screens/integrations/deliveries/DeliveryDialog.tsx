import { api, type Loaded, load, read, type Schemas } from "../../../api/client.ts"
import { withKey } from "../../../api/idempotency.ts"
import { useQuery } from "../../../api/query.ts"
import { hasRole, inTenant } from "../../../api/session.ts"
import { updateVersion } from "../../../api/update.ts"
import { useAction } from "../../../ui/action.ts"
import { Code } from "../../../ui/Code.tsx"
import { formatNumber } from "../../../ui/format.ts"
import { Dialog } from "../../../ui/forms/Dialog.tsx"
import { Shown } from "../../../ui/State.tsx"
import { Badge, Time } from "../../../ui/Value.tsx"
import type { IntegrationValue } from "../providers.ts"

type DeliveryValue = Schemas["DeliveryWithAttempts"]

const readDelivery = (integrationId: string, deliveryId: string) =>
  load(
    api.GET("/api/v1/integrations/{integrationId}/deliveries/{deliveryId}", {
      params: { path: { integrationId, deliveryId } }
    })
  )

/** Sends it again. An attempt since the page read it is shown first: it may have arrived. */
const redeliver = async (loaded: Loaded<DeliveryValue>) => {
  const { id, integration } = loaded.value
  const sent = await updateVersion(
    loaded,
    {},
    (match) =>
      withKey(`redeliver ${id}`, (key) =>
        read(
          api.POST("/api/v1/integrations/{integrationId}/deliveries/{deliveryId}/redeliver", {
            params: { path: { integrationId: integration, deliveryId: id } },
            headers: { ...key, ...match }
          })
        )
      ),
    () => readDelivery(integration, id)
  )
  return sent && "The delivery is sent again"
}

const isFinal = ({ value: { status } }: Loaded<DeliveryValue>) => status !== "PENDING" && status !== "WAITING"

const pollMs = 1000

const Facts = ({ value }: { readonly value: DeliveryValue }) => (
  <dl class="facts">
    <div>
      <dt>Created</dt>
      <dd>
        <Time at={value.createdAt} />
      </dd>
    </div>
    {value.recipient !== undefined && (
      <div>
        <dt>To</dt>
        <dd>{value.recipient}</dd>
      </div>
    )}
    {value.deliveredAt !== undefined && (
      <div>
        <dt>Delivered</dt>
        <dd>
          <Time at={value.deliveredAt} />
        </dd>
      </div>
    )}
    {value.nextAttemptAt !== undefined && (
      <div>
        <dt>Next attempt</dt>
        <dd>
          <Time at={value.nextAttemptAt} />
        </dd>
      </div>
    )}
    <div>
      <dt>Event</dt>
      <dd>
        <a href={inTenant(`/events?event=${value.event}`)}>{value.eventType}</a>
      </dd>
    </div>
  </dl>
)

interface AttemptProps {
  readonly attempt: DeliveryValue["attemptLog"][number]
  readonly isLast: boolean
}

const Attempt = ({ attempt, isLast }: AttemptProps) => {
  const { attemptedAt, error, latencyMs, number, outcome, responseBody, responseStatus } = attempt
  return (
    <details class="attempt" open={isLast}>
      <summary>
        <strong>Attempt {number}</strong>
        <Badge status={outcome} />
        {responseStatus !== undefined && <code>{responseStatus}</code>}
        {latencyMs !== undefined && <span class="muted">{formatNumber(latencyMs)} ms</span>}
        <span class="muted">
          <Time at={attemptedAt} />
        </span>
      </summary>
      {error !== undefined && <p class="bad">{error}</p>}
      {responseBody === undefined || responseBody === "" ? (
        <p class="muted">The receiver answered without a body, or it is no longer kept.</p>
      ) : (
        <Code label={`Answer to attempt ${number}`} text={responseBody} />
      )}
    </details>
  )
}

/** What is sent: the event, the same on every attempt. */
const Request = ({ eventId, integration }: { readonly eventId: string; readonly integration: IntegrationValue }) => {
  const query = useQuery(`event ${eventId}`, () =>
    read(api.GET("/api/v1/events/{eventId}", { params: { path: { eventId } } }))
  )
  return (
    <details class="attempt">
      <summary>
        <strong>Request</strong>
        {integration.config.url !== undefined && <code class="breakable">POST {integration.config.url}</code>}
      </summary>
      <Shown query={query}>{(event) => <Code label="Request" text={JSON.stringify(event)} />}</Shown>
    </details>
  )
}

interface DeliveryDialogProps {
  readonly integration: IntegrationValue
  readonly deliveryId: string
  readonly onClose: () => void
}

/** One delivery with all its attempts: what was sent, what the receiver answered, and how long it took. */
export const DeliveryDialog = ({ deliveryId, integration, onClose }: DeliveryDialogProps) => {
  const { isRunning, run } = useAction()
  const query = useQuery(`delivery ${deliveryId}`, () => readDelivery(integration.id, deliveryId), { pollMs, isFinal })
  return (
    <Dialog title="Delivery" onClose={onClose} isWide>
      <Shown query={query}>
        {(loaded) => {
          const attempts = loaded.value.attemptLog.toReversed()
          return (
            <>
              <p class="delivery-head">
                <strong>{loaded.value.eventType}</strong> <Badge status={loaded.value.status} />
              </p>
              <Facts value={loaded.value} />
              {attempts.length === 0 && <p class="muted">Not sent yet.</p>}
              {attempts.map((attempt, index) => (
                <Attempt key={attempt.number} attempt={attempt} isLast={index === 0} />
              ))}
              <Request eventId={loaded.value.event} integration={integration} />
              {hasRole("ADMIN") && (
                <footer class="actions">
                  <button
                    type="button"
                    class="primary"
                    aria-disabled={isRunning}
                    onClick={() => run(() => redeliver(loaded))}
                  >
                    Redeliver
                  </button>
                </footer>
              )}
            </>
          )
        }}
      </Shown>
    </Dialog>
  )
}

import { api, type Loaded, load, read, type Schemas } from "../../api/client.ts"
import { withKey } from "../../api/idempotency.ts"
import { usePages, useQuery } from "../../api/query.ts"
import { hasRole } from "../../api/session.ts"
import { updateVersion } from "../../api/update.ts"
import { useAction } from "../../ui/action.ts"
import { Code } from "../../ui/Code.tsx"
import { Dialog } from "../../ui/forms/Dialog.tsx"
import { StatusFilter, statusQuery, useFilters } from "../../ui/lists/Filters.tsx"
import { PagedList } from "../../ui/lists/PagedList.tsx"
import { Shown } from "../../ui/State.tsx"
import { Badge, Time } from "../../ui/Value.tsx"

type Webhook = Schemas["InboundWebhook"]
type FullWebhook = Schemas["InboundWebhookWithBody"]

const statuses = ["RECEIVED", "DONE", "STALE", "FAILED"] as const satisfies ReadonlyArray<Webhook["status"]>

const readWebhook = (integrationId: string, webhookId: string) =>
  load(
    api.GET("/api/v1/integrations/{integrationId}/inbound/{webhookId}", {
      params: { path: { integrationId, webhookId } }
    })
  )

const replay = async (loaded: Loaded<FullWebhook>) => {
  const { id: webhookId, integration: integrationId } = loaded.value
  const replayed = await updateVersion(
    loaded,
    {},
    (match) =>
      withKey(`replay ${webhookId}`, (key) =>
        read(
          api.POST("/api/v1/integrations/{integrationId}/inbound/{webhookId}/replay", {
            params: { path: { integrationId, webhookId } },
            headers: { ...key, ...match }
          })
        )
      ),
    () => readWebhook(integrationId, webhookId)
  )
  return replayed && "The webhook is processed again"
}

const pollMs = 1000
const listPollMs = 3000

interface WebhookDialogProps {
  readonly integrationId: string
  readonly webhookId: string
  readonly onClose: () => void
}

/** One webhook as the tracker sent it. */
const WebhookDialog = ({ integrationId, onClose, webhookId }: WebhookDialogProps) => {
  const { isRunning, run } = useAction()
  const query = useQuery(`inbound ${webhookId}`, () => readWebhook(integrationId, webhookId), {
    pollMs,
    isFinal: ({ value: { status } }) => status !== "RECEIVED"
  })
  return (
    <Dialog title="Inbound webhook" onClose={onClose} isWide>
      <Shown query={query}>
        {(loaded) => {
          const { attempts, body, error, issueKey, kind, processedAt, receivedAt, status } = loaded.value
          return (
            <>
              <p class="delivery-head">
                <strong>{issueKey}</strong> <code>{kind}</code> <Badge status={status} />
              </p>
              {error !== undefined && <div class="alert bad">{error}</div>}
              <dl class="facts">
                <div>
                  <dt>Received</dt>
                  <dd>
                    <Time at={receivedAt} />
                  </dd>
                </div>
                {processedAt !== undefined && (
                  <div>
                    <dt>Processed</dt>
                    <dd>
                      <Time at={processedAt} />
                    </dd>
                  </div>
                )}
                <div>
                  <dt>Attempts</dt>
                  <dd>{attempts}</dd>
                </div>
              </dl>
              {body === undefined ? (
                <p class="muted">The body is no longer kept, so it cannot be replayed.</p>
              ) : (
                <Code label="Body" text={body} />
              )}
              {hasRole("ADMIN") && body !== undefined && (
                <footer class="actions">
                  <button
                    type="button"
                    class="primary"
                    aria-disabled={isRunning}
                    onClick={() => run(() => replay(loaded))}
                  >
                    Replay
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

/** What the tracker sent, newest first, and what came of it. */
export const Inbound = ({ integrationId }: { readonly integrationId: string }) => {
  const { filters, hrefWith, setFilter } = useFilters()
  const { webhook } = filters
  const query = { limit: 100, sort: "-receivedAt" as const, ...statusQuery(filters, statuses) }
  const pages = usePages(
    `inbound ${integrationId} ${JSON.stringify(query)}`,
    (cursor) =>
      load(
        api.GET("/api/v1/integrations/{integrationId}/inbound", {
          params: { path: { integrationId }, query: { ...query, ...(cursor && { cursor }) } }
        })
      ),
    { pollMs: listPollMs }
  )
  return (
    <>
      <search class="filters">
        <StatusFilter statuses={statuses} />
      </search>
      <PagedList
        pages={pages}
        label="Webhooks"
        keyOf={({ id }) => id}
        empty="The tracker sends one for every change of an issue."
        row={({ error, id, issueKey, kind, receivedAt, status }) => (
          <a class="row" href={hrefWith({ webhook: id })}>
            <span class="row-main">
              <strong>{issueKey}</strong>
              <span class={error === undefined ? "muted" : "bad"}>{error ?? kind}</span>
            </span>
            <span class="muted wide-only moment">
              <Time at={receivedAt} />
            </span>
            <span class="row-side">
              <Badge status={status} />
            </span>
          </a>
        )}
      />
      {webhook !== undefined && (
        <WebhookDialog integrationId={integrationId} webhookId={webhook} onClose={() => setFilter("webhook", "")} />
      )}
    </>
  )
}

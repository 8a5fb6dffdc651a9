import { useState } from "preact/hooks"
import { api, readAll } from "../../api/client.ts"
import { useQuery } from "../../api/query.ts"
import { hasRole, inTenant, tenantId } from "../../api/session.ts"
import { PagedList } from "../../ui/lists/PagedList.tsx"
import { Page } from "../../ui/Page.tsx"
import { Shown } from "../../ui/State.tsx"
import { Badge } from "../../ui/Value.tsx"
import { NewIntegration } from "./NewIntegration.tsx"
import { type IntegrationValue, providers, targetOf } from "./providers.ts"

const readIntegrations = () =>
  readAll((cursor) => api.GET("/api/v1/integrations", { params: { query: { limit: 200, ...(cursor && { cursor }) } } }))

const needsAttention = ({ status }: Pick<IntegrationValue, "status">) => status === "ERROR" || status === "PENDING_AUTH"

/** What is stopped comes first: a tenant has few integrations, and all of them are here. */
const byNeed = (integrations: ReadonlyArray<IntegrationValue>) =>
  [true, false].flatMap((isNeedy) => integrations.filter((one) => needsAttention(one) === isNeedy))

const IntegrationRow = ({ integration }: { readonly integration: IntegrationValue }) => {
  const { id, name, provider, status, statusReason, subscriptions } = integration
  const count = subscriptions.length
  return (
    <a class="row" href={inTenant(`/integrations/${id}`)}>
      <span class="row-main">
        <strong>{name}</strong>
        <span class={statusReason === undefined ? "muted" : "bad"} title={statusReason}>
          {statusReason ?? targetOf(integration) ?? providers[provider].about}
        </span>
      </span>
      <span class="muted wide-only">{providers[provider].label}</span>
      <span class="muted wide-only">{count > 0 && `${count} ${count === 1 ? "subscription" : "subscriptions"}`}</span>
      <span class="row-side">
        <Badge status={status} />
      </span>
    </a>
  )
}

/** All integrations, those that need somebody first. */
export const Integrations = () => {
  const [isCreating, setCreating] = useState(false)
  const query = useQuery(`integrations ${tenantId.value}`, readIntegrations)
  const create = hasRole("ADMIN") && (
    <button type="button" class="primary" onClick={() => setCreating(true)}>
      New integration
    </button>
  )
  return (
    <Page title="Integrations" actions={create}>
      <Shown query={query}>
        {(integrations) => (
          <PagedList
            pages={{
              items: byNeed(integrations),
              error: undefined,
              isLoading: false,
              hasMore: false,
              loadMore: () => undefined
            }}
            label="Integrations"
            keyOf={({ id }) => id}
            empty="An integration sends events to your systems, or brings issues that you can bill."
            row={(integration) => <IntegrationRow integration={integration} />}
          />
        )}
      </Shown>
      {isCreating && <NewIntegration onClose={() => setCreating(false)} />}
    </Page>
  )
}

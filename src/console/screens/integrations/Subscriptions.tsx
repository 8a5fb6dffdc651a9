import { useState } from "preact/hooks"
import { ApiFailure, api, done, read, type Schemas } from "../../api/client.ts"
import { withKey } from "../../api/idempotency.ts"
import { findClient } from "../../api/lookups.ts"
import { changes, useQuery } from "../../api/query.ts"
import { hasRole } from "../../api/session.ts"
import { useAction } from "../../ui/action.ts"
import { Dialog } from "../../ui/forms/Dialog.tsx"
import { Choice, Form, type FormValues } from "../../ui/forms/Form.tsx"
import { SearchInput } from "../../ui/lists/Filters.tsx"
import { Section } from "../../ui/Page.tsx"
import { EventTypeOptions, isEventPattern } from "../events/EventTypeOptions.tsx"
import type { LoadedIntegration } from "./integrationApi.ts"

const subscribe = async (integrationId: string, { clientId = "", eventType }: FormValues) => {
  if (!isEventPattern(eventType))
    throw new ApiFailure(400, "", [{ field: "eventType", constraint: "required", message: "is required" }])
  await withKey(`subscribe ${integrationId}`, (headers) =>
    read(
      api.POST("/api/v1/integrations/{integrationId}/subscriptions", {
        params: { path: { integrationId } },
        body: { eventType, ...(clientId === "" ? {} : { clientId }) },
        headers
      })
    )
  )
}

interface NewSubscriptionProps {
  readonly integrationId: string
  readonly onClose: () => void
}

/** The API searches texts of at least two characters. */
const minSearchLength = 2
const maxClients = 50

const findClients = async (q: string) =>
  q.length < minSearchLength
    ? []
    : (await read(api.GET("/api/v1/clients", { params: { query: { q, sort: "name" } } }))).slice(0, maxClients)

const NewSubscription = ({ integrationId, onClose }: NewSubscriptionProps) => {
  const [text, setText] = useState("")
  const clients = useQuery(`clients with ${text}`, () => findClients(text))
  return (
    <Dialog title="New subscription" onClose={onClose}>
      <Form
        submitLabel="Subscribe"
        onCancel={onClose}
        onSubmit={async (values) => {
          await subscribe(integrationId, values)
          changes.value++
          onClose()
        }}
      >
        <Choice
          name="eventType"
          label="Event type"
          hint="With .* all events of a resource."
          options={[["", "Choose…"]]}
        >
          <EventTypeOptions />
        </Choice>
        <div class="field">
          <SearchInput label="Only one client? Search by name" value={text} onSearch={setText} />
        </div>
        <Choice
          name="clientId"
          label="Of"
          options={[["", "All clients"], ...(clients.value ?? []).map(({ id, name }) => [id, name] as const)]}
        />
      </Form>
    </Dialog>
  )
}

const unsubscribe = async (integrationId: string, { eventType, id }: Schemas["Subscription"]) => {
  await withKey(`unsubscribe ${id}`, (headers) =>
    done(
      api.DELETE("/api/v1/integrations/{integrationId}/subscriptions/{subscriptionId}", {
        params: { path: { integrationId, subscriptionId: id } },
        headers
      })
    )
  )
  return `${eventType} is no longer sent`
}

/** Which events the integration gets. */
export const Subscriptions = ({ loaded }: { readonly loaded: LoadedIntegration }) => {
  const { id, subscriptions } = loaded.value
  const [isAdding, setAdding] = useState(false)
  const { run } = useAction()
  const canWrite = hasRole("ADMIN")
  const add = canWrite && (
    <button type="button" onClick={() => setAdding(true)}>
      Subscribe
    </button>
  )
  return (
    <Section title="Subscriptions" action={add}>
      {subscriptions.length === 0 && <p class="muted">No subscription yet, so it gets no events.</p>}
      <ul class="plain">
        {subscriptions.map((subscription) => (
          <li key={subscription.id} class="split">
            <div>
              <code>{subscription.eventType}</code>{" "}
              <span class="muted">
                {subscription.clientId === undefined
                  ? "of all clients"
                  : `of ${findClient(subscription.clientId)?.name ?? "one client"}`}
              </span>
            </div>
            {canWrite && (
              <button
                type="button"
                class="quiet danger"
                aria-label={`Unsubscribe from ${subscription.eventType}`}
                onClick={() => run(() => unsubscribe(id, subscription))}
              >
                Unsubscribe
              </button>
            )}
          </li>
        ))}
      </ul>
      {isAdding && <NewSubscription integrationId={id} onClose={() => setAdding(false)} />}
    </Section>
  )
}

import { Effect } from "effect"
import { JiraRejection } from "../../infra/jira/JiraResponses.ts"
import type { JiraWebhookClient } from "../../infra/jira/JiraWebhookClient.ts"
import type { JiraConnection, JiraWebhook, JiraWebhookEndpoint, JiraWebhooks } from "./JiraWebhooks.ts"

const dayMs = 24 * 60 * 60 * 1000
/** Jira drops a webhook after 30 days without a refresh. */
export const webhookLifetimeMs = 30 * dayMs
/** We refresh a webhook this long before it expires. */
export const refreshMarginMs = 7 * dayMs

/** JQL that matches every issue: Jira requires a filter. */
const matchAllJql = "project != null"

/** An integration, its Jira site, and its webhooks according to our database. */
export interface JiraWebhookState {
  readonly connection: JiraConnection
  readonly site: string
  readonly registrations: ReadonlyArray<JiraWebhook>
}

export const jqlFilterOf = ({ jql }: JiraConnection) => jql ?? matchAllJql

/** Jira accepts a single webhook URL and has another one. Its response says so only in the message. */
const isUrlConflict = ({ message }: JiraRejection) => /\burls?\b/i.test(message)

/** Registers Jira webhooks and replaces outdated ones. */
export const makeJiraWebhookRegistration = (webhooks: JiraWebhooks, urlOf: (key: string) => string) => {
  const outdatedIdsOf = ({ registrations, site }: JiraWebhookState, currentId?: number) =>
    registrations.filter((one) => one.site === site && one.webhookId !== currentId).map(({ webhookId }) => webhookId)

  const removeOutdated = (client: JiraWebhookClient, state: JiraWebhookState, currentId?: number) => {
    const outdated = outdatedIdsOf(state, currentId)
    return outdated.length === 0 ? Effect.void : Effect.ignoreLogged(client.remove(outdated))
  }

  /** Saves a registration. If the integration was deleted meanwhile, removes the webhook again. */
  const save = (
    client: JiraWebhookClient,
    { connection, site }: JiraWebhookState,
    id: number,
    { keyHash }: JiraWebhookEndpoint,
    expiresAt: number
  ) =>
    Effect.flatMap(webhooks.save(connection, site, id, keyHash, expiresAt), (isSaved) =>
      isSaved ? Effect.void : Effect.ignoreLogged(client.remove([id]))
    )

  /** Finds a webhook that a process registered before it crashed and never saved. */
  const findUnsaved = (
    client: JiraWebhookClient,
    { connection, site }: JiraWebhookState,
    { key }: JiraWebhookEndpoint
  ) =>
    Effect.gen(function* () {
      const url = urlOf(key)
      const matching = (yield* client.list).filter(
        (one) => one.url === url && one.jqlFilter === jqlFilterOf(connection)
      )
      const ids = matching.map(({ id }) => id)
      const savedIds = ids.length === 0 ? new Set<number>() : yield* webhooks.findOwnedIds(site, ids)
      return matching.find(({ id }) => !savedIds.has(id))
    })

  const registerAt = (client: JiraWebhookClient, { connection }: JiraWebhookState, endpoint: JiraWebhookEndpoint) =>
    Effect.map(client.register({ url: urlOf(endpoint.key), jqlFilter: jqlFilterOf(connection) }), (id) => ({
      id,
      endpoint
    }))

  /**
   * Registers at the integration's own endpoint. If Jira accepts no second URL, shares the endpoint of another integration
   * of the site: intake assigns what arrives there to the right integration.
   */
  const registerAtAny = (client: JiraWebhookClient, state: JiraWebhookState, own: JiraWebhookEndpoint) =>
    registerAt(client, state, own).pipe(
      Effect.catchTag("JiraRejection", (rejection) =>
        Effect.gen(function* () {
          if (!isUrlConflict(rejection)) return yield* Effect.fail(rejection)
          const [shared] = yield* webhooks.findOtherEndpoints(state.site, state.connection)
          if (shared !== undefined) return yield* registerAt(client, state, shared)
          if (outdatedIdsOf(state).length === 0) return yield* Effect.fail(rejection)
          yield* removeOutdated(client, state)
          yield* webhooks.remove(state.connection)
          return yield* registerAt(client, state, own)
        })
      )
    )

  return {
    register: (client: JiraWebhookClient, state: JiraWebhookState, now: number) =>
      Effect.gen(function* () {
        const own = yield* webhooks.findEndpoint(state.connection)
        if (own === undefined)
          return yield* Effect.fail(new JiraRejection({ message: "The integration has no webhook URL" }))
        const unsaved = yield* findUnsaved(client, state, own)
        if (unsaved !== undefined) {
          return yield* save(client, state, unsaved.id, own, unsaved.expiresAt ?? now + webhookLifetimeMs)
        }
        const { endpoint, id } = yield* registerAtAny(client, state, own)
        yield* save(client, state, id, endpoint, now + webhookLifetimeMs)
        yield* removeOutdated(client, state, id)
      })
  }
}

export type JiraWebhookRegistration = ReturnType<typeof makeJiraWebhookRegistration>

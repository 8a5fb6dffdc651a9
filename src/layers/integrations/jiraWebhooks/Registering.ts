import { Effect } from "effect"
import { TrackerRefusal } from "../../jira/Answers.ts"
import type { Tracker } from "../../jira/Tracker.ts"
import type { Connected, Endpoint, Kept, TrackerWebhooks } from "./TrackerWebhooks.ts"

const dayMs = 24 * 60 * 60 * 1000
/** Jira drops a webhook after 30 days without a refresh. */
export const lifetime = 30 * dayMs
/** We refresh a webhook this long before it expires. */
export const margin = 7 * dayMs

/** JQL that matches every issue: Jira requires a filter. */
const matchAllJql = "project != null"

/** An integration, its Jira site, and its webhooks according to our database. */
export interface Post {
  readonly of: Connected
  readonly site: string
  readonly kept: ReadonlyArray<Kept>
}

export const filterOf = ({ jql }: Connected) => jql ?? matchAllJql

/** Jira accepts a single webhook URL and has another one. Its response says so only in the message. */
const isUrlConflict = ({ message }: TrackerRefusal) => /\burls?\b/i.test(message)

/** Registers Jira webhooks and replaces outdated ones. */
export const makeRegistering = (webhooks: TrackerWebhooks, urlOf: (key: string) => string) => {
  const outdatedIdsOf = ({ kept, site }: Post, currentId?: number) =>
    kept.filter((one) => one.site === site && one.webhookId !== currentId).map(({ webhookId }) => webhookId)

  const removeOutdated = (client: Tracker, state: Post, currentId?: number) => {
    const outdated = outdatedIdsOf(state, currentId)
    return outdated.length === 0 ? Effect.void : Effect.ignoreLogged(client.remove(outdated))
  }

  /** Saves a registration. If the integration was deleted meanwhile, removes the webhook again. */
  const save = (
    client: Tracker,
    { of: connection, site }: Post,
    id: number,
    { keyHash }: Endpoint,
    expiresAt: number
  ) =>
    Effect.flatMap(webhooks.keep(connection, site, id, keyHash, expiresAt), (isSaved) =>
      isSaved ? Effect.void : Effect.ignoreLogged(client.remove([id]))
    )

  /** Finds a webhook that a process registered before it crashed and never saved. */
  const findUnsaved = (client: Tracker, { of: connection, site }: Post, { key }: Endpoint) =>
    Effect.gen(function* () {
      const url = urlOf(key)
      const matching = (yield* client.list).filter((one) => one.url === url && one.jqlFilter === filterOf(connection))
      const ids = matching.map(({ id }) => id)
      const savedIds = ids.length === 0 ? new Set<number>() : yield* webhooks.takenAt(site, ids)
      return matching.find(({ id }) => !savedIds.has(id))
    })

  const registerAt = (client: Tracker, { of: connection }: Post, endpoint: Endpoint) =>
    Effect.map(client.register({ url: urlOf(endpoint.key), jqlFilter: filterOf(connection) }), (id) => ({
      id,
      endpoint
    }))

  /**
   * Registers at the integration's own endpoint. If Jira accepts no second URL, shares the endpoint of another integration
   * of the site: intake assigns what arrives there to the right integration.
   */
  const registerAtAny = (client: Tracker, state: Post, own: Endpoint) =>
    registerAt(client, state, own).pipe(
      Effect.catchTag("JiraRejection", (rejection) =>
        Effect.gen(function* () {
          if (!isUrlConflict(rejection)) return yield* Effect.fail(rejection)
          const [shared] = yield* webhooks.othersAt(state.site, state.of)
          if (shared !== undefined) return yield* registerAt(client, state, shared)
          if (outdatedIdsOf(state).length === 0) return yield* Effect.fail(rejection)
          yield* removeOutdated(client, state)
          yield* webhooks.forget(state.of)
          return yield* registerAt(client, state, own)
        })
      )
    )

  return {
    register: (client: Tracker, state: Post, now: number) =>
      Effect.gen(function* () {
        const own = yield* webhooks.endpointOf(state.of)
        if (own === undefined)
          return yield* Effect.fail(new TrackerRefusal({ message: "There is no address for the tracker's webhooks" }))
        const unsaved = yield* findUnsaved(client, state, own)
        if (unsaved !== undefined) {
          return yield* save(client, state, unsaved.id, own, unsaved.expiresAt ?? now + lifetime)
        }
        const { endpoint, id } = yield* registerAtAny(client, state, own)
        yield* save(client, state, id, endpoint, now + lifetime)
        yield* removeOutdated(client, state, id)
      })
  }
}

export type Registering = ReturnType<typeof makeRegistering>

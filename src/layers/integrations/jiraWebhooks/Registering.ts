import { Effect } from "effect"
import { TrackerRefusal } from "../../jira/Answers.ts"
import type { Tracker } from "../../jira/Tracker.ts"
import type { Connected, Endpoint, Kept, TrackerWebhooks } from "./TrackerWebhooks.ts"

/** How long a registration lives unless the tracker says otherwise, and how long before its end it is renewed. */
const day = 24 * 60 * 60 * 1000
export const lifetime = 30 * day
export const margin = 7 * day

const everything = "project != null"

/** One integration, the site it is connected to, and what is registered there for it. */
export interface Post {
  readonly of: Connected
  readonly site: string
  readonly kept: ReadonlyArray<Kept>
}

export const filterOf = ({ jql }: Connected) => jql ?? everything

/** The tracker takes one address only, and has another already. */
const isAboutAddress = ({ message }: TrackerRefusal) => /\burls?\b/i.test(message)

/** How webhooks come to be registered, and registered again. */
export const makeRegistering = (webhooks: TrackerWebhooks, urlOf: (key: string) => string) => {
  const oldOf = ({ kept, site }: Post, fresh?: number) =>
    kept.filter((one) => one.site === site && one.webhookId !== fresh).map(({ webhookId }) => webhookId)

  const removeOld = (tracker: Tracker, post: Post, fresh?: number) => {
    const old = oldOf(post, fresh)
    return old.length === 0 ? Effect.void : Effect.ignoreLogged(tracker.remove(old))
  }

  /** An integration that was deleted meanwhile wants nothing registered. */
  const keep = (tracker: Tracker, { of, site }: Post, id: number, { keyHash }: Endpoint, expiresAt: number) =>
    Effect.flatMap(webhooks.keep(of, site, id, keyHash, expiresAt), (isKept) =>
      isKept ? Effect.void : Effect.ignoreLogged(tracker.remove([id]))
    )

  /** What was registered by somebody who did not live to write it down. */
  const findLeftover = (tracker: Tracker, { of, site }: Post, { key }: Endpoint) =>
    Effect.gen(function* () {
      const url = urlOf(key)
      const like = (yield* tracker.list).filter((one) => one.url === url && one.jqlFilter === filterOf(of))
      const ids = like.map(({ id }) => id)
      const taken = ids.length === 0 ? new Set<number>() : yield* webhooks.takenAt(site, ids)
      return like.find(({ id }) => !taken.has(id))
    })

  const at = (tracker: Tracker, { of }: Post, endpoint: Endpoint) =>
    Effect.map(tracker.register({ url: urlOf(endpoint.key), jqlFilter: filterOf(of) }), (id) => ({ id, endpoint }))

  /** Our own address if the tracker takes it, else that of another integration of the site; what comes in is told apart. */
  const atAny = (tracker: Tracker, post: Post, own: Endpoint) =>
    at(tracker, post, own).pipe(
      Effect.catchTag("TrackerRefusal", (refusal) =>
        Effect.gen(function* () {
          if (!isAboutAddress(refusal)) return yield* Effect.fail(refusal)
          const [shared] = yield* webhooks.othersAt(post.site, post.of)
          if (shared !== undefined) return yield* at(tracker, post, shared)
          if (oldOf(post).length === 0) return yield* Effect.fail(refusal)
          yield* removeOld(tracker, post)
          yield* webhooks.forget(post.of)
          return yield* at(tracker, post, own)
        })
      )
    )

  return {
    register: (tracker: Tracker, post: Post, now: number) =>
      Effect.gen(function* () {
        const own = yield* webhooks.endpointOf(post.of)
        if (own === undefined)
          return yield* Effect.fail(new TrackerRefusal({ message: "There is no address for the tracker's webhooks" }))
        const leftover = yield* findLeftover(tracker, post, own)
        if (leftover !== undefined) {
          return yield* keep(tracker, post, leftover.id, own, leftover.expiresAt ?? now + lifetime)
        }
        const { endpoint, id } = yield* atAny(tracker, post, own)
        yield* keep(tracker, post, id, endpoint, now + lifetime)
        yield* removeOld(tracker, post, id)
      })
  }
}

export type Registering = ReturnType<typeof makeRegistering>

import { Effect } from "effect"
import type { Tracker } from "../../jira/Tracker.ts"
import { filterOf, margin, type Post, type Registering } from "./Registering.ts"
import type { Kept, TrackerWebhooks } from "./TrackerWebhooks.ts"

export type Task = "register" | "refresh" | "look" | "nothing"

/** The registration that counts: for the site, and leading to somebody. */
const currentOf = ({ kept, site }: Post) => kept.find((one) => one.site === site && one.isOpen)

/** What is to be done about an integration's registration. */
export const taskOf = (post: Post, now: number, isLookDue: boolean): Task => {
  const current = currentOf(post)
  if (current === undefined) return "register"
  if (Date.parse(current.expiresAt) - now <= margin) return "refresh"
  return isLookDue ? "look" : "nothing"
}

/** How what is registered stays so. */
export const makeTending = (webhooks: TrackerWebhooks, { register }: Registering) => {
  const keep = ({ of, site }: Post, { keyHash, webhookId }: Kept, expiresAt: number) =>
    Effect.asVoid(webhooks.keep(of, site, webhookId, keyHash, expiresAt))

  /** Whether the tracker still has it as it should be. What it has lost, or has otherwise, is registered again. */
  const look = (tracker: Tracker, post: Post, current: Kept, now: number) =>
    Effect.gen(function* () {
      const found = (yield* tracker.list).find(({ id }) => id === current.webhookId)
      const isSame = found !== undefined && (found.jqlFilter ?? filterOf(post.of)) === filterOf(post.of)
      if (!isSame) return yield* register(tracker, post, now)
      if (found.expiresAt !== undefined) yield* keep(post, current, found.expiresAt)
    })

  /** One that is refused may be unknown: a look tells, and the refusal stands if it is not. */
  const refresh = (tracker: Tracker, post: Post, current: Kept, now: number) =>
    tracker.refresh(current.webhookId).pipe(
      Effect.flatMap((expiresAt) =>
        expiresAt === undefined ? look(tracker, post, current, now) : keep(post, current, expiresAt)
      ),
      Effect.catchTag("TrackerRefusal", (refusal) =>
        Effect.flatMap(tracker.list, (found) =>
          found.some(({ id }) => id === current.webhookId) ? Effect.fail(refusal) : register(tracker, post, now)
        )
      )
    )

  return (task: Task, tracker: Tracker, post: Post, now: number) => {
    const current = currentOf(post)
    if (current === undefined || task === "register") return register(tracker, post, now)
    return task === "refresh" ? refresh(tracker, post, current, now) : look(tracker, post, current, now)
  }
}

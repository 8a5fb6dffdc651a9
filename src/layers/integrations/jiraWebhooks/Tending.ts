import { Effect } from "effect"
import type { Tracker } from "../../jira/Tracker.ts"
import { filterOf, margin, type Post, type Registering } from "./Registering.ts"
import type { Kept, TrackerWebhooks } from "./TrackerWebhooks.ts"

export type Task = "register" | "refresh" | "verify" | "none"

/** The registration for the current site whose endpoint is still open. */
const currentOf = ({ kept, site }: Post) => kept.find((one) => one.site === site && one.isOpen)

/** The action that an integration's registration needs now. */
export const taskOf = (state: Post, now: number, isVerificationDue: boolean): Task => {
  const current = currentOf(state)
  if (current === undefined) return "register"
  if (Date.parse(current.expiresAt) - now <= margin) return "refresh"
  return isVerificationDue ? "verify" : "none"
}

/** Refreshes and verifies Jira webhooks. */
export const makeTending = (webhooks: TrackerWebhooks, { register }: Registering) => {
  const save = ({ of: connection, site }: Post, { keyHash, webhookId }: Kept, expiresAt: number) =>
    Effect.asVoid(webhooks.keep(connection, site, webhookId, keyHash, expiresAt))

  /** Compares the webhook in Jira with the expected one. Registers it again when it is gone or has another filter. */
  const verify = (client: Tracker, state: Post, current: Kept, now: number) =>
    Effect.gen(function* () {
      const found = (yield* client.list).find(({ id }) => id === current.webhookId)
      const isUpToDate = found !== undefined && (found.jqlFilter ?? filterOf(state.of)) === filterOf(state.of)
      if (!isUpToDate) return yield* register(client, state, now)
      if (found.expiresAt !== undefined) yield* save(state, current, found.expiresAt)
    })

  /** Jira also rejects the refresh of a webhook it no longer has. The list reveals that case, and we register again. */
  const refresh = (client: Tracker, state: Post, current: Kept, now: number) =>
    client.refresh(current.webhookId).pipe(
      Effect.flatMap((expiresAt) =>
        expiresAt === undefined ? verify(client, state, current, now) : save(state, current, expiresAt)
      ),
      Effect.catchTag("JiraRejection", (rejection) =>
        Effect.flatMap(client.list, (found) =>
          found.some(({ id }) => id === current.webhookId) ? Effect.fail(rejection) : register(client, state, now)
        )
      )
    )

  return (task: Task, client: Tracker, state: Post, now: number) => {
    const current = currentOf(state)
    if (current === undefined || task === "register") return register(client, state, now)
    return task === "refresh" ? refresh(client, state, current, now) : verify(client, state, current, now)
  }
}

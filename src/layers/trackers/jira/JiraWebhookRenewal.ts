import { Effect } from "effect"
import type { JiraWebhookClient } from "../../infra/jira/JiraWebhookClient.ts"
import {
  type JiraWebhookRegistration,
  type JiraWebhookState,
  jqlFilterOf,
  refreshMarginMs
} from "./JiraWebhookRegistration.ts"
import type { JiraWebhook, JiraWebhooks } from "./JiraWebhooks.ts"

export type JiraWebhookTask = "register" | "refresh" | "verify" | "none"

/** The registration for the current site whose endpoint is still open. */
const currentOf = ({ registrations, site }: JiraWebhookState) =>
  registrations.find((one) => one.site === site && one.isOpen)

/** The action that an integration's registration needs now. */
export const dueTaskOf = (state: JiraWebhookState, now: number, isVerificationDue: boolean): JiraWebhookTask => {
  const current = currentOf(state)
  if (current === undefined) return "register"
  if (Date.parse(current.expiresAt) - now <= refreshMarginMs) return "refresh"
  return isVerificationDue ? "verify" : "none"
}

/** Refreshes and verifies Jira webhooks. */
export const makeJiraWebhookRenewal = (webhooks: JiraWebhooks, { register }: JiraWebhookRegistration) => {
  const save = ({ connection, site }: JiraWebhookState, { keyHash, webhookId }: JiraWebhook, expiresAt: number) =>
    Effect.asVoid(webhooks.save(connection, site, webhookId, keyHash, expiresAt))

  /** Compares the webhook in Jira with the expected one. Registers it again when it is gone or has another filter. */
  const verify = (client: JiraWebhookClient, state: JiraWebhookState, current: JiraWebhook, now: number) =>
    Effect.gen(function* () {
      const found = (yield* client.list).find(({ id }) => id === current.webhookId)
      const isUpToDate =
        found !== undefined && (found.jqlFilter ?? jqlFilterOf(state.connection)) === jqlFilterOf(state.connection)
      if (!isUpToDate) return yield* register(client, state, now)
      if (found.expiresAt !== undefined) yield* save(state, current, found.expiresAt)
    })

  /** Jira also rejects the refresh of a webhook it no longer has. The list reveals that case, and we register again. */
  const refresh = (client: JiraWebhookClient, state: JiraWebhookState, current: JiraWebhook, now: number) =>
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

  return (task: JiraWebhookTask, client: JiraWebhookClient, state: JiraWebhookState, now: number) => {
    const current = currentOf(state)
    if (current === undefined || task === "register") return register(client, state, now)
    return task === "refresh" ? refresh(client, state, current, now) : verify(client, state, current, now)
  }
}

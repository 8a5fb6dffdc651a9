import { Effect, Random } from "effect"
import { nextAttempt, retryAfterOf } from "../../domain/delivery/RetrySchedule.ts"
import type { Sent } from "../../domain/delivery/Sent.ts"
import { eventText } from "../../domain/events/EventText.ts"
import type { Claimed } from "../../layers/delivery/Claims.ts"
import { DriveSender } from "../../layers/delivery/DriveSender.ts"
import type { Outcome } from "../../layers/delivery/Outcomes.ts"
import { IntegrationSecrets } from "../../layers/integrations/IntegrationSecrets.ts"
import { NatsSender } from "../../layers/nats/NatsSender.ts"
import { WebhookSender } from "../../layers/webhook/Sender.ts"

const bodyOf = ({ client, data, event, sequence, tenant, timestamp, type }: Claimed) =>
  eventText({ id: event, type, timestamp, tenant, client: client ?? undefined, sequence, data })

/** The result of an attempt that failed with a defect. The log has the cause; the receiver's owner must not see it. */
const internalFailure: Sent = { delivered: false, latencyMs: 0, error: "The service could not send it" }

/** The time of the next attempt. With `stop` it is now: the integration fails, and a person resumes it. */
const nextAttemptAt = ({ delivered, retryAfter, stop }: Sent, attemptsInRound: number, now: number, random: number) => {
  if (delivered) return undefined
  if (stop !== undefined) return now
  return nextAttempt({ attemptsInRound, now, random, retryAfter: retryAfterOf(retryAfter, now) })
}

/** One attempt to send a delivery, for every provider. */
export class Attempts extends Effect.Service<Attempts>()("workers/Attempts", {
  dependencies: [WebhookSender.Default, NatsSender.Default, DriveSender.Default, IntegrationSecrets.Default],
  effect: Effect.gen(function* () {
    const webhooks = yield* WebhookSender
    const nats = yield* NatsSender
    const googleDrive = yield* DriveSender
    const secrets = yield* IntegrationSecrets

    const secretsOf = ({ integration, secrets: sealed, tenant }: Claimed) =>
      secrets.opened(
        tenant,
        integration,
        (sealed ?? []).map(({ generation, sealed }) => ({ generation, sealed: Buffer.from(sealed, "base64") }))
      )

    const sendTo: Record<Claimed["provider"], (claimed: Claimed) => Effect.Effect<Sent>> = {
      WEBHOOK: (claimed) =>
        Effect.suspend(() =>
          webhooks.send({
            tenant: claimed.tenant,
            url: String(claimed.config["url"]),
            id: claimed.event,
            body: Buffer.from(bodyOf(claimed)),
            secrets: secretsOf(claimed),
            now: Date.now()
          })
        ),
      NATS: (claimed) =>
        nats.send({
          tenant: claimed.tenant,
          integration: claimed.integration,
          type: claimed.type,
          id: claimed.event,
          round: claimed.spent,
          body: bodyOf(claimed)
        }),
      GOOGLE_DRIVE: ({ config, data, id, integration, tenant, type }) =>
        googleDrive.send({
          tenant,
          integration,
          delivery: id,
          type,
          data,
          folder: typeof config["folderId"] === "string" ? config["folderId"] : undefined
        })
    }

    const outcomeOf = (
      { attempts, id, integration, lease, spent, tenant }: Claimed,
      sent: Sent,
      startedAt: number,
      random: number
    ): Outcome => {
      const now = Date.now()
      const next = nextAttemptAt(sent, attempts + 1 - spent, now, random)
      return {
        tenant,
        integration,
        id,
        lease,
        delivered: sent.delivered,
        attemptedAt: new Date(startedAt).toISOString(),
        latencyMs: Math.round(sent.latencyMs),
        status: sent.status,
        body: sent.body,
        error: sent.error,
        nextAttemptAt: next === undefined ? undefined : new Date(next).toISOString(),
        stop: sent.stop
      }
    }

    return {
      /** Sends the delivery once. Never fails: a failure to send is an outcome too. */
      make: (claimed: Claimed) =>
        Effect.gen(function* () {
          const startedAt = Date.now()
          const random = yield* Random.next
          const sent = yield* sendTo[claimed.provider](claimed).pipe(
            Effect.catchAllCause((cause) =>
              Effect.as(Effect.logError("A delivery attempt failed with an internal error", cause), internalFailure)
            )
          )
          return outcomeOf(claimed, sent, startedAt, random)
        })
    }
  })
}) {}

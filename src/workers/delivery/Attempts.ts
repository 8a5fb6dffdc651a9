import { Effect, Random } from "effect"
import { nextAttempt, retryAfterOf } from "../../domain/delivery/RetrySchedule.ts"
import { eventText } from "../../domain/events/EventText.ts"
import { NatsSender } from "../../layers/providers/nats/NatsSender.ts"
import type { Sent } from "../../layers/providers/Sent.ts"
import { WebhookSender } from "../../layers/providers/webhook/Sender.ts"
import type { Claimed } from "../../layers/sql/delivery/Claims.ts"
import type { Outcome } from "../../layers/sql/delivery/Outcomes.ts"
import { IntegrationSecrets } from "../../layers/sql/integrations/IntegrationSecrets.ts"

const bodyOf = ({ client, data, event, sequence, tenant, timestamp, type }: Claimed) =>
  eventText({ id: event, type, timestamp, tenant, client: client ?? undefined, sequence, data })

/** Why an attempt that ended in a fault of ours did: told in the log, not to the receiver's owner. */
const ourFault: Sent = { delivered: false, latencyMs: 0, error: "The service could not send it", gone: false }

/** One attempt to deliver, whatever the receiver is. */
export class Attempts extends Effect.Service<Attempts>()("workers/Attempts", {
  dependencies: [WebhookSender.Default, NatsSender.Default, IntegrationSecrets.Default],
  effect: Effect.gen(function* () {
    const webhooks = yield* WebhookSender
    const nats = yield* NatsSender
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
      GOOGLE_DRIVE: () => Effect.dieMessage("nothing is delivered to a drive yet")
    }

    const outcomeOf = (
      { attempts, id, integration, lease, spent, tenant }: Claimed,
      sent: Sent,
      began: number,
      random: number
    ): Outcome => {
      const now = Date.now()
      const next = sent.delivered
        ? undefined
        : nextAttempt({
            attemptsInRound: attempts + 1 - spent,
            now,
            random,
            retryAfter: retryAfterOf(sent.retryAfter, now)
          })
      return {
        tenant,
        integration,
        id,
        lease,
        delivered: sent.delivered,
        attemptedAt: new Date(began).toISOString(),
        latencyMs: Math.round(sent.latencyMs),
        status: sent.status,
        body: sent.body,
        error: sent.error,
        nextAttemptAt: next === undefined ? undefined : new Date(next).toISOString(),
        gone: sent.gone
      }
    }

    return {
      /** Sends it once. This never fails: that it could not be sent is an outcome as well. */
      make: (claimed: Claimed) =>
        Effect.gen(function* () {
          const began = Date.now()
          const random = yield* Random.next
          const sent = yield* sendTo[claimed.provider](claimed).pipe(
            Effect.catchAllCause((cause) =>
              Effect.as(Effect.logError("An attempt failed by our own fault", cause), ourFault)
            )
          )
          return outcomeOf(claimed, sent, began, random)
        })
    }
  })
}) {}

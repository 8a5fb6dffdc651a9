import { Effect, Random } from "effect"
import { computeNextAttempt, parseRetryAfter } from "../../domain/delivery/RetrySchedule.ts"
import type { SendResult } from "../../domain/delivery/SendResult.ts"
import { encodeEventPayload } from "../../domain/events/EventPayload.ts"
import type { AttemptResult } from "../../layers/delivery/AttemptResults.ts"
import type { ClaimedDelivery } from "../../layers/delivery/Claims.ts"
import { GoogleDriveSender } from "../../layers/delivery/GoogleDriveSender.ts"
import type { MailResult } from "../../layers/delivery/MailProofs.ts"
import { NatsSender } from "../../layers/infra/nats/NatsSender.ts"
import { makeEventTraces } from "../../layers/infra/telemetry/EventTraces.ts"
import { WebhookSender } from "../../layers/infra/webhook/WebhookSender.ts"
import { IntegrationSecrets } from "../../layers/integrations/IntegrationSecrets.ts"
import { EmailSender, type MailSendResult } from "../../layers/mails/EmailSender.ts"

const bodyOf = ({ client, createdBy, event, ...payload }: ClaimedDelivery) =>
  encodeEventPayload({ ...payload, id: event, client: client ?? undefined, createdBy: createdBy ?? undefined })

/** The result of an attempt that failed with a defect. The log has the cause; the receiver's owner must not see it. */
const internalFailure: SendResult = {
  delivered: false,
  latencyMs: 0,
  error: "An internal error prevented the delivery"
}

/** The time of the next attempt. With `stop` it is now: the integration fails, and a person resumes it. */
const nextAttemptAt = (
  { delivered, isFinal, isUncertain, retryAfter, stop }: SendResult,
  attemptsInRound: number,
  now: number,
  random: number
) => {
  if (delivered || isFinal || isUncertain) return undefined
  if (stop !== undefined) return now
  return computeNextAttempt({ attemptsInRound, now, random, retryAfter: parseRetryAfter(retryAfter, now) })
}

/** A mail without a next attempt is refused, whatever the last server said. */
const finalMailOf = (mail: MailResult, nextAttempt: number | undefined): MailResult =>
  mail.outcome === "RETRY" && nextAttempt === undefined ? { ...mail, outcome: "REFUSED" } : mail

/** The span of an attempt. It has no `body`, which belongs to the receiver. */
const describeAttempt = ({ attempts, event, id, integration, provider, tenant, type }: ClaimedDelivery) => ({
  name: "SendAttempt.run",
  attributes: { tenant, integration, provider, delivery: id, event, type, attempt: attempts + 1 },
  attributesOf: ({ delivered, error, status }: SendResult) => ({ delivered, error, status })
})

/** One attempt to send a delivery, for every provider. */
export class SendAttempt extends Effect.Service<SendAttempt>()("workers/SendAttempt", {
  dependencies: [
    WebhookSender.Default,
    NatsSender.Default,
    GoogleDriveSender.Default,
    EmailSender.Default,
    IntegrationSecrets.Default
  ],
  effect: Effect.gen(function* () {
    const webhooks = yield* WebhookSender
    const nats = yield* NatsSender
    const googleDrive = yield* GoogleDriveSender
    const email = yield* EmailSender
    const secrets = yield* IntegrationSecrets
    const traces = yield* makeEventTraces

    const secretsOf = ({ integration, secrets: sealed, tenant }: ClaimedDelivery) =>
      secrets.unseal(
        tenant,
        integration,
        (sealed ?? []).map(({ generation, sealed }) => ({ generation, sealed: Buffer.from(sealed, "base64") }))
      )

    const sendTo: Record<ClaimedDelivery["provider"], (claimed: ClaimedDelivery) => Effect.Effect<MailSendResult>> = {
      WEBHOOK: (claimed) =>
        Effect.suspend(() =>
          webhooks.send({
            tenant: claimed.tenant,
            url: String(claimed.config["url"]),
            id: claimed.event,
            body: Buffer.from(bodyOf(claimed)),
            secrets: secretsOf(claimed),
            now: Date.now(),
            traceParent: claimed.traceParent ?? undefined
          })
        ),
      NATS: (claimed) =>
        nats.send({
          tenant: claimed.tenant,
          integration: claimed.integration,
          type: claimed.type,
          id: claimed.event,
          redeliveryRound: claimed.spent,
          body: bodyOf(claimed),
          traceParent: claimed.traceParent ?? undefined
        }),
      GOOGLE_DRIVE: ({ attempts, config, data, id, integration, tenant, type }) =>
        googleDrive.send({
          tenant,
          integration,
          delivery: id,
          attempt: attempts + 1,
          type,
          data,
          folder: typeof config["folderId"] === "string" ? config["folderId"] : undefined
        }),
      EMAIL: (claimed) => Effect.suspend(() => email.send(claimed, secretsOf(claimed)[0]))
    }

    const outcomeOf = (
      { attempts, id, integration, lease, spent, tenant }: ClaimedDelivery,
      sent: MailSendResult,
      startedAt: number,
      random: number
    ): AttemptResult => {
      const now = Date.now()
      const next = nextAttemptAt(sent, attempts + 1 - spent, now, random)
      return {
        tenant,
        integration,
        id,
        lease,
        delivered: sent.delivered,
        isUncertain: sent.isUncertain,
        attemptedAt: new Date(startedAt).toISOString(),
        latencyMs: Math.round(sent.latencyMs),
        status: sent.status,
        body: sent.body,
        error: sent.error,
        nextAttemptAt: next === undefined ? undefined : new Date(next).toISOString(),
        stopReason: sent.stop,
        mail: sent.mail === undefined ? undefined : finalMailOf(sent.mail, next)
      }
    }

    const send = (claimed: ClaimedDelivery) =>
      sendTo[claimed.provider](claimed).pipe(
        Effect.catchAllCause((cause) =>
          Effect.as(Effect.logError("A delivery attempt failed with an internal error", cause), internalFailure)
        )
      )

    return {
      /** Sends the delivery once. Never fails: a failure to send is an outcome too. */
      run: (claimed: ClaimedDelivery) =>
        Effect.gen(function* () {
          const startedAt = Date.now()
          const random = yield* Random.next
          const sent = yield* traces.withSpan(claimed, describeAttempt(claimed), send)
          return outcomeOf(claimed, sent, startedAt, random)
        })
    }
  })
}) {}

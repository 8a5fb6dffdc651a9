import { Data, Duration, Effect, Fiber, Redacted, Schema } from "effect"
import type { SendResult } from "../../domain/delivery/SendResult.ts"
import { IntegrationConfig, usesSharedMailServer } from "../../domain/integrations/Integration.ts"
import { isMailable, type MailedDocument, type MailOutcome, MailRequest } from "../../domain/mails/Mail.ts"
import { composeMail } from "../../domain/mails/MailTexts.ts"
import { senderNameVia } from "../../domain/mails/Sender.ts"
import { CurrentTenant } from "../../domain/tenancy/RequestContext.ts"
import type { ClaimedDelivery } from "../delivery/Claims.ts"
import { type DeliveryMail, MailProofs, type MailResult } from "../delivery/MailProofs.ts"
import { encodeMessage, messageIdOf } from "../infra/smtp/MailMessage.ts"
import { operatorServer } from "../infra/smtp/OperatorServer.ts"
import { SmtpClient, type SmtpMail, type SmtpServer, smtpTimeout } from "../infra/smtp/SmtpClient.ts"
import type { SmtpResult } from "../infra/smtp/SmtpResult.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"
import { Quotas } from "../quotas/Quotas.ts"
import { MailDocuments } from "./MailDocuments.ts"

export interface MailSendResult extends SendResult {
  readonly mail?: MailResult | undefined
}

/** The mail is not sent now. */
class NotSent extends Data.TaggedError("NotSent")<{
  readonly reason: string
  readonly isFinal?: boolean
  /** In seconds. */
  readonly retryAfter?: string
}> {}

/** Timeout of the wait for the PDF. It leaves time for the mail server. */
const pdfTimeout = Duration.seconds(12)
/** Mails beyond a daily quota wait for this long. */
const quotaDelaySeconds = 3600

const decodeConfig = Schema.decodeUnknown(IntegrationConfig)
const decodeRequest = Schema.decodeUnknown(Schema.parseJson(MailRequest))

const documentOf = ({ resource, type }: ClaimedDelivery): MailedDocument => ({
  kind: type.startsWith("credit_note.") ? "credit_note" : "invoice",
  id: resource
})

const unconfirmed: SendResult = {
  delivered: false,
  isUncertain: true,
  latencyMs: 0,
  error: "A worker stopped while it sent this mail, so it may have been sent; redeliver it if it has not arrived"
}

interface MailOrigin {
  readonly address: string
  /** The name of the operator, if its server sends the mail. */
  readonly via?: string
}

interface Sent {
  readonly sent: Omit<SendResult, "latencyMs">
  readonly outcome: MailOutcome
}

/**
 * Credentials that the server rejects say nothing about the mail, which is kept. Those of the tenant stop the integration
 * until somebody corrects them.
 */
const toSendResult = (result: SmtpResult, isShared: boolean): Sent => {
  if (result.outcome === "SENT") {
    return { sent: { delivered: true, status: result.status, body: result.response }, outcome: "SENT" }
  }
  if (result.outcome === "UNCERTAIN") {
    return { sent: { delivered: false, isUncertain: true, error: result.reason }, outcome: "UNCERTAIN" }
  }
  const failed = { delivered: false, error: result.reason, status: result.status, body: result.response }
  if (result.outcome === "RETRY") return { sent: failed, outcome: "RETRY" }
  if (result.stage !== "AUTH") return { sent: { ...failed, isFinal: true }, outcome: "REFUSED" }
  return { sent: isShared ? failed : { ...failed, stop: result.reason }, outcome: "RETRY" }
}

/** Sends invoices and credit notes by mail. */
export class EmailSender extends Effect.Service<EmailSender>()("layers/EmailSender", {
  dependencies: [MailDocuments.Default, MailProofs.Default, Quotas.Default, SmtpClient.Default],
  scoped: Effect.gen(function* () {
    const documents = yield* MailDocuments
    const proofs = yield* MailProofs
    const quotas = yield* Quotas
    const smtp = yield* SmtpClient
    const scope = yield* Effect.scope
    const operator = yield* operatorServer

    /** The server of an integration, and where its mails come from. */
    const serverOf = (config: typeof IntegrationConfig.Type, password: string | undefined) => {
      const { from, host, port, security, user } = config
      if (from === undefined || host === undefined || port === undefined || security === undefined) {
        if (operator.found === undefined) {
          return Effect.fail(
            new NotSent({ reason: `The operator must set ${operator.missing.join(", ")} to send mails` })
          )
        }
        const { sender, server } = operator.found
        const origin: MailOrigin = { address: sender.address, via: sender.name }
        return Effect.succeed({ server, origin })
      }
      const credentials =
        user === undefined || password === undefined ? {} : { credentials: { user, password: Redacted.make(password) } }
      const server: SmtpServer = { host, port, security, ...credentials, isTrusted: false }
      const origin: MailOrigin = { address: from }
      return Effect.succeed({ server, origin })
    }

    const requireQuota = Effect.fnUntraced(function* ({ isShared, requestedBy, tenant }: DeliveryMail) {
      const exceeded = isShared ? yield* quotas.findExceededMailQuota(tenant, requestedBy) : undefined
      if (exceeded === undefined) return
      return yield* new NotSent({
        reason: `The quota ${exceeded} of mails a day is used up; the mail is sent later`,
        retryAfter: String(quotaDelaySeconds)
      })
    })

    /** Rendering continues after this attempt times out: the next attempt finds the PDF. */
    const renderPdf = <E, R>(pdf: Effect.Effect<Uint8Array, E, R>) =>
      pdf.pipe(
        Effect.forkIn(scope),
        Effect.flatMap(Fiber.join),
        Effect.timeoutFail({
          duration: pdfTimeout,
          onTimeout: () => new NotSent({ reason: "The PDF is still being rendered; the next attempt sends it" })
        })
      )

    const buildMessage = Effect.fnUntraced(function* (
      claimed: ClaimedDelivery,
      mail: DeliveryMail,
      { address, via }: MailOrigin,
      config: typeof IntegrationConfig.Type
    ) {
      const document = yield* documents.load(mail.document)
      if (!isMailable(mail.document.kind, document.status)) {
        return yield* new NotSent({ reason: `It is ${document.status} and is not sent any more`, isFinal: true })
      }
      const { cc = [], to = [mail.recipient], ...requested } = yield* Effect.orDie(decodeRequest(claimed.data))
      const { fileName, language, sender, values } = document
      const content = yield* renderPdf(document.pdf)
      return yield* encodeMessage({
        ...composeMail({ kind: mail.document.kind, language, requested, texts: config.texts ?? {}, values }),
        ...{ to, cc, language, messageId: mail.messageId, replyTo: config.replyTo, date: new Date(claimed.timestamp) },
        from: { name: via === undefined ? sender : senderNameVia(sender, via), address },
        attachments: [{ filename: fileName, contentType: "application/pdf", content }]
      })
    })

    const mailOf = (claimed: ClaimedDelivery, config: typeof IntegrationConfig.Type): DeliveryMail => {
      const recipient = claimed.recipient ?? ""
      const from = config.from ?? operator.found?.sender.address ?? ""
      return {
        tenant: claimed.tenant,
        delivery: claimed.id,
        round: claimed.spent,
        integration: claimed.integration,
        event: claimed.event,
        document: documentOf(claimed),
        client: claimed.client ?? undefined,
        recipient,
        messageId: messageIdOf(claimed.event, recipient, from.slice(from.lastIndexOf("@") + 1)),
        isShared: usesSharedMailServer(config),
        requestedBy: claimed.createdBy ?? undefined
      }
    }

    /** Transmits the message. After a defect it is known whether the server may have got it. */
    const transmit = (server: SmtpServer, message: SmtpMail, mail: DeliveryMail, lease: string) =>
      Effect.suspend(() => {
        let hasBegun = false
        const begin = Effect.map(proofs.begin(mail, lease), (may) => {
          hasBegun = may
          return may
        })
        return Effect.catchAllCause(smtp.send(server, message, begin), (cause) => {
          const reason = "An internal error interrupted the mail"
          const failed: SmtpResult = hasBegun
            ? { outcome: "UNCERTAIN", reason }
            : { outcome: "RETRY", stage: "DATA", reason }
          return Effect.as(Effect.logError("A mail failed with an internal error", cause), failed)
        })
      })

    const attempt = Effect.fnUntraced(function* (
      claimed: ClaimedDelivery,
      mail: DeliveryMail,
      config: typeof IntegrationConfig.Type,
      password: string | undefined
    ) {
      const startedAt = Date.now()
      const { origin, server } = yield* serverOf(config, password)
      yield* requireQuota(mail)
      const message = yield* buildMessage(claimed, mail, origin, config)
      const timeout = Duration.subtract(smtpTimeout, Duration.millis(Date.now() - startedAt))
      const envelope = { from: origin.address, to: mail.recipient }
      const result = yield* transmit(server, { envelope, message, timeout }, mail, claimed.lease)
      const { outcome, sent } = toSendResult(result, mail.isShared)
      return { ...sent, latencyMs: Date.now() - startedAt, mail: { ...mail, outcome, reason: sent.error } }
    })

    const send = Effect.fnUntraced(function* (claimed: ClaimedDelivery, password: string | undefined) {
      const config = yield* Effect.orDie(decodeConfig(claimed.config))
      const mail = mailOf(claimed, config)
      if (claimed.unconfirmedSince !== null) {
        return { ...unconfirmed, mail: { ...mail, outcome: "UNCERTAIN", reason: unconfirmed.error } } as const
      }
      const fail = (error: string, more: Partial<MailSendResult> = {}) =>
        Effect.succeed<MailSendResult>({ delivered: false, latencyMs: 0, error, ...more })
      const retry = (reason: string): Partial<MailSendResult> => ({ mail: { ...mail, outcome: "RETRY", reason } })
      return yield* attempt(claimed, mail, config, password).pipe(
        Effect.catchTags({
          NotSent: ({ isFinal = false, reason, retryAfter }) =>
            fail(reason, isFinal ? { isFinal } : { retryAfter, ...retry(reason) }),
          NotFound: () => fail("The document does not exist", { isFinal: true })
        }),
        Effect.catchAll(({ message }) => fail(message, retry(message)))
      )
    })

    return {
      /** Makes one attempt. The result has to be recorded with its mail, or else the mail is UNCERTAIN. */
      send: (claimed: ClaimedDelivery, password: string | undefined): Effect.Effect<MailSendResult> =>
        Effect.provideService(send(claimed, password), CurrentTenant, claimed.tenant)
    }
  }).pipe(withSpans("EmailSender"))
}) {}

import { Data, Option, Schema } from "effect"
import type { ProviderResponse } from "../providerHttp/ProviderRequest.ts"

/** Jira rejected the request. A retry gets the same response. */
export class JiraRejection extends Data.TaggedError("JiraRejection")<{ readonly message: string }> {}

/** Jira is temporarily unavailable, or sent a response we cannot parse. A retry may succeed. */
export class JiraUnavailable extends Data.TaggedError("JiraUnavailable")<{ readonly message: string }> {}

/** A webhook as registered in Jira. */
export interface RegisteredJiraWebhook {
  readonly id: number
  readonly url?: string | undefined
  readonly jqlFilter?: string | undefined
  /** Epoch milliseconds. */
  readonly expiresAt?: number | undefined
}

const ErrorResponse = Schema.Struct({
  errorMessages: Schema.optional(Schema.Array(Schema.String)),
  message: Schema.optional(Schema.String)
})
const decodeErrorResponse = Schema.decodeUnknownOption(ErrorResponse)

const Timestamp = Schema.Union(Schema.Number, Schema.String)

const RegistrationResponse = Schema.Struct({
  webhookRegistrationResult: Schema.NonEmptyArray(
    Schema.Struct({
      createdWebhookId: Schema.optional(Schema.Number),
      errors: Schema.optional(Schema.Array(Schema.String))
    })
  )
})

const WebhookPage = Schema.Struct({
  isLast: Schema.optional(Schema.Boolean),
  values: Schema.Array(
    Schema.Struct({
      id: Schema.Number,
      url: Schema.optional(Schema.String),
      jqlFilter: Schema.optional(Schema.String),
      expirationDate: Schema.optional(Timestamp)
    })
  )
})

const RefreshResponse = Schema.Struct({ expirationDate: Timestamp })

/** Smaller numbers are epoch seconds: as milliseconds they would lie before March 1973. */
const minEpochMs = 100_000_000_000

/** Parses a Jira timestamp to epoch milliseconds. Jira sends a number in some responses and a string in others. */
export const parseJiraTimestamp = (value: number | string | undefined): number | undefined => {
  if (typeof value === "number") return value < minEpochMs ? value * 1000 : value
  const parsed = value === undefined ? Number.NaN : Date.parse(value)
  return Number.isNaN(parsed) ? undefined : parsed
}

const describeError = ({ json, status }: ProviderResponse) => {
  const { errorMessages = [], message } = Option.getOrElse(
    decodeErrorResponse(json),
    (): typeof ErrorResponse.Type => ({})
  )
  const details = [...errorMessages, ...(message === undefined ? [] : [message])].join("; ").slice(0, 500)
  return details === "" ? `Jira answered ${status}` : `Jira answered ${status}: ${details}`
}

/** Maps an error response to a transient or a permanent error. */
export const toJiraError = (reply: ProviderResponse) =>
  reply.status >= 500 || reply.status === 429 || reply.status === 408
    ? new JiraUnavailable({ message: describeError(reply) })
    : new JiraRejection({ message: describeError(reply) })

const decodeRegistration = Schema.decodeUnknownOption(RegistrationResponse)

/** Returns the id of the new webhook, or an error: Jira answers 200 even when it registers nothing. */
export const parseRegistration = ({ json }: ProviderResponse): number | JiraRejection => {
  const [result] = Option.match(decodeRegistration(json), {
    onNone: () => [],
    onSome: ({ webhookRegistrationResult }) => webhookRegistrationResult
  })
  const details = result?.errors?.join("; ").slice(0, 500) || "it gave no reason"
  return result?.createdWebhookId ?? new JiraRejection({ message: `Jira registered no webhook: ${details}` })
}

const decodePage = Schema.decodeUnknownOption(WebhookPage)

/** Parses one page of registered webhooks. Returns undefined when the page does not match the schema. */
export const parseWebhookPage = ({ json }: ProviderResponse) =>
  Option.getOrUndefined(
    Option.map(decodePage(json), ({ isLast = true, values }) => ({
      isLast,
      webhooks: values.map(
        ({ expirationDate, ...rest }): RegisteredJiraWebhook => ({
          ...rest,
          expiresAt: parseJiraTimestamp(expirationDate)
        })
      )
    }))
  )

const decodeRefresh = Schema.decodeUnknownOption(RefreshResponse)

export const parseRefreshedExpiry = ({ json }: ProviderResponse) =>
  parseJiraTimestamp(Option.getOrUndefined(Option.map(decodeRefresh(json), ({ expirationDate }) => expirationDate)))

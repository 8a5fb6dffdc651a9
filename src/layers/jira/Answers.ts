import { Data, Option, Schema } from "effect"
import type { Reply } from "../providerHttp/Calls.ts"

/** The tracker said no, and would say so again. */
export class TrackerRefusal extends Data.TaggedError("TrackerRefusal")<{ readonly message: string }> {}

/** The tracker did not do it this time. */
export class TrackerAway extends Data.TaggedError("TrackerAway")<{ readonly message: string }> {}

/** A webhook that is registered with a tracker. */
export interface Registered {
  readonly id: number
  readonly url?: string | undefined
  readonly jqlFilter?: string | undefined
  /** In milliseconds. */
  readonly expiresAt?: number | undefined
}

const Complaint = Schema.Struct({
  errorMessages: Schema.optional(Schema.Array(Schema.String)),
  message: Schema.optional(Schema.String)
})
const readComplaint = Schema.decodeUnknownOption(Complaint)

const Moment = Schema.Union(Schema.Number, Schema.String)

const Registration = Schema.Struct({
  webhookRegistrationResult: Schema.NonEmptyArray(
    Schema.Struct({
      createdWebhookId: Schema.optional(Schema.Number),
      errors: Schema.optional(Schema.Array(Schema.String))
    })
  )
})

const Listed = Schema.Struct({
  isLast: Schema.optional(Schema.Boolean),
  values: Schema.Array(
    Schema.Struct({
      id: Schema.Number,
      url: Schema.optional(Schema.String),
      jqlFilter: Schema.optional(Schema.String),
      expirationDate: Schema.optional(Moment)
    })
  )
})

const Refreshed = Schema.Struct({ expirationDate: Moment })

/** Seconds and milliseconds since 1970 are told apart by their size: no date of ours is as early as in milliseconds. */
const millisecondsFrom = 100_000_000_000

/** A moment as the tracker tells it, in numbers here and as text there. */
export const momentOf = (told: number | string | undefined): number | undefined => {
  if (typeof told === "number") return told < millisecondsFrom ? told * 1000 : told
  const read = told === undefined ? Number.NaN : Date.parse(told)
  return Number.isNaN(read) ? undefined : read
}

const sentenceOf = ({ json, status }: Reply) => {
  const { errorMessages = [], message } = Option.getOrElse(readComplaint(json), (): typeof Complaint.Type => ({}))
  const told = [...errorMessages, ...(message === undefined ? [] : [message])].join("; ").slice(0, 500)
  return told === "" ? `The tracker answered ${status}` : `The tracker answered ${status}: ${told}`
}

/** What to make of an answer that is not the one that was hoped for. */
export const complaintOf = (reply: Reply) =>
  reply.status >= 500 || reply.status === 429 || reply.status === 408
    ? new TrackerAway({ message: sentenceOf(reply) })
    : new TrackerRefusal({ message: sentenceOf(reply) })

const registrationOf = Schema.decodeUnknownOption(Registration)

/** The number of a new webhook, or why there is none: that the answer is a good one does not say that there is. */
export const readRegistration = ({ json }: Reply): number | TrackerRefusal => {
  const [result] = Option.match(registrationOf(json), {
    onNone: () => [],
    onSome: ({ webhookRegistrationResult }) => webhookRegistrationResult
  })
  const told = result?.errors?.join("; ").slice(0, 500) || "it did not say why"
  return result?.createdWebhookId ?? new TrackerRefusal({ message: `The tracker registered no webhook: ${told}` })
}

const listOf = Schema.decodeUnknownOption(Listed)

/** One page of what is registered; nothing if it cannot be understood. */
export const readList = ({ json }: Reply) =>
  Option.getOrUndefined(
    Option.map(listOf(json), ({ isLast = true, values }) => ({
      isLast,
      webhooks: values.map(
        ({ expirationDate, ...rest }): Registered => ({ ...rest, expiresAt: momentOf(expirationDate) })
      )
    }))
  )

const refreshedOf = Schema.decodeUnknownOption(Refreshed)

export const readRefresh = ({ json }: Reply) =>
  momentOf(Option.getOrUndefined(Option.map(refreshedOf(json), ({ expirationDate }) => expirationDate)))

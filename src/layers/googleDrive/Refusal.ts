import { Data, Option, Schema } from "effect"
import type { Reply } from "../providerHttp/Calls.ts"

/** The drive did not do what it was asked. */
export class Refusal extends Data.TaggedError("Refusal")<{
  readonly message: string
  readonly reply?: Reply
  readonly retryAfter?: string | undefined
  /** What a person has to do before anything can be delivered again. */
  readonly stop?: string | undefined
}> {}

const GoogleError = Schema.Struct({
  error: Schema.Struct({
    message: Schema.optional(Schema.String),
    errors: Schema.optional(Schema.Array(Schema.Struct({ reason: Schema.optional(Schema.String) })))
  })
})
const readError = Schema.decodeUnknownOption(GoogleError)

const mayNotWrite =
  "The drive does not let us write into the folder: give whoever authorized it that right or choose another folder, then resume"

/** Refusals that no repetition mends, by the drive's own name for them. */
const stops: Readonly<Record<string, string>> = {
  storageQuotaExceeded: "The drive is full: make room in it, then resume",
  teamDriveFileLimitExceeded: "The shared drive holds as many files as it can: make room in it, then resume",
  teamDriveHierarchyTooDeep: "The folder lies too deep in the shared drive: choose another, then resume",
  numChildrenInNonRootLimitExceeded: "The folder holds as many files as it can: choose another, then resume",
  insufficientFilePermissions: mayNotWrite,
  insufficientParentPermissions: mayNotWrite,
  insufficientPermissions: mayNotWrite,
  appNotAuthorizedToFile: mayNotWrite,
  cannotAddParent: mayNotWrite,
  domainPolicy: "The drive's organisation does not admit this service: have its administrator do so, then resume",
  notFound: "The folder is not in the drive, or is kept from us: choose another, then resume"
}

/** A day's allowance does not come back within minutes. */
const longRest = String(4 * 60 * 60)

const reasonOf = ({ json }: Reply) =>
  Option.match(readError(json), { onNone: () => "", onSome: ({ error }) => error.errors?.[0]?.reason ?? "" })

const sentenceOf = ({ json, status }: Reply) =>
  Option.match(readError(json), {
    onNone: () => `The drive answered ${status}`,
    onSome: ({ error: { message } }) => `The drive answered ${status}${message === undefined ? "" : `: ${message}`}`
  })

const stopOf = (reply: Reply) => {
  const reason = reasonOf(reply)
  return (reply.status === 403 || reply.status === 404) && Object.hasOwn(stops, reason) ? stops[reason] : undefined
}

/** What to make of an answer that is not the one that was hoped for. */
export const refusalOf = (reply: Reply) =>
  new Refusal({
    message: sentenceOf(reply),
    reply,
    retryAfter: reply.headers["retry-after"] ?? (reasonOf(reply) === "dailyLimitExceeded" ? longRest : undefined),
    stop: stopOf(reply)
  })

/** The same where no folder is involved, so that nothing a person could do is missing. */
export const plainRefusalOf = (reply: Reply) => new Refusal({ message: sentenceOf(reply), reply })

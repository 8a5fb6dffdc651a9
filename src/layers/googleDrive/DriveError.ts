import { Data, Option, Schema } from "effect"
import type { ProviderResponse } from "../providerHttp/ProviderRequest.ts"

/** Google Drive rejected or failed a request. */
export class DriveError extends Data.TaggedError("DriveError")<{
  readonly message: string
  readonly reply?: ProviderResponse
  readonly retryAfter?: string | undefined
  /** What a user must do before deliveries can succeed. Undefined for a transient error. */
  readonly stop?: string | undefined
}> {}

const GoogleError = Schema.Struct({
  error: Schema.Struct({
    message: Schema.optional(Schema.String),
    errors: Schema.optional(Schema.Array(Schema.Struct({ reason: Schema.optional(Schema.String) })))
  })
})
const decodeError = Schema.decodeUnknownOption(GoogleError)

const permissionStop =
  "The drive does not let us write into the folder: give the account that authorized it that right or choose another folder, then resume"

/** Errors that no retry resolves, by Google's `reason`. */
const stopByReason: Readonly<Record<string, string>> = {
  storageQuotaExceeded: "The drive is full: make room in it, then resume",
  teamDriveFileLimitExceeded: "The shared drive holds as many files as it can: make room in it, then resume",
  teamDriveHierarchyTooDeep: "The folder lies too deep in the shared drive: choose another, then resume",
  numChildrenInNonRootLimitExceeded: "The folder holds as many files as it can: choose another, then resume",
  insufficientFilePermissions: permissionStop,
  insufficientParentPermissions: permissionStop,
  insufficientPermissions: permissionStop,
  appNotAuthorizedToFile: permissionStop,
  cannotAddParent: permissionStop,
  domainPolicy: "The drive's organisation does not admit this service: have its administrator do so, then resume",
  notFound: "The folder is not in the drive, or is kept from us: choose another, then resume"
}

/** The daily quota does not recover within minutes. */
const dailyLimitRetrySeconds = String(4 * 60 * 60)

const reasonOf = ({ json }: ProviderResponse) =>
  Option.match(decodeError(json), { onNone: () => "", onSome: ({ error }) => error.errors?.[0]?.reason ?? "" })

const describeError = ({ json, status }: ProviderResponse) =>
  Option.match(decodeError(json), {
    onNone: () => `The drive answered ${status}`,
    onSome: ({ error: { message } }) => `The drive answered ${status}${message === undefined ? "" : `: ${message}`}`
  })

const stopOf = (reply: ProviderResponse) => {
  const reason = reasonOf(reply)
  return (reply.status === 403 || reply.status === 404) && Object.hasOwn(stopByReason, reason)
    ? stopByReason[reason]
    : undefined
}

/** Maps an error response, with the retry delay and the reason to stop. */
export const toDriveError = (reply: ProviderResponse) =>
  new DriveError({
    message: describeError(reply),
    reply,
    retryAfter:
      reply.headers["retry-after"] ?? (reasonOf(reply) === "dailyLimitExceeded" ? dailyLimitRetrySeconds : undefined),
    stop: stopOf(reply)
  })

/** Maps an error response to a transient error: the delivery is retried and the integration stays active. */
export const toTransientDriveError = (reply: ProviderResponse) =>
  new DriveError({ message: describeError(reply), reply })

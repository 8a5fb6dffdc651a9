import { Data, Option, Schema } from "effect"
import type { ProviderResponse } from "../providerHttp/ProviderRequest.ts"

/** Google Drive rejected or failed a request. */
export class DriveError extends Data.TaggedError("DriveError")<{
  readonly message: string
  readonly reply?: ProviderResponse
  readonly retryAfter?: string | undefined
  /** What a user must do before deliveries can succeed. Undefined for a transient error. */
  readonly stop?: string | undefined
  /** No later attempt can succeed. */
  readonly isFinal?: boolean
}> {}

const GoogleError = Schema.Struct({
  error: Schema.Struct({
    message: Schema.optional(Schema.String),
    errors: Schema.optional(Schema.Array(Schema.Struct({ reason: Schema.optional(Schema.String) })))
  })
})
const decodeError = Schema.decodeUnknownOption(GoogleError)

const permissionStop =
  "Google Drive does not allow writing to the folder: give the authorized account access or choose another folder, then resume"

/** Errors that no retry resolves, by Google's `reason`. */
const stopByReason: Readonly<Record<string, string>> = {
  storageQuotaExceeded: "Google Drive is full: free some space, then resume",
  teamDriveFileLimitExceeded: "The shared drive has reached its file limit: delete files, then resume",
  teamDriveHierarchyTooDeep: "The folder is nested too deeply in the shared drive: choose another, then resume",
  numChildrenInNonRootLimitExceeded: "The folder has reached its file limit: choose another, then resume",
  insufficientFilePermissions: permissionStop,
  insufficientParentPermissions: permissionStop,
  insufficientPermissions: permissionStop,
  appNotAuthorizedToFile: permissionStop,
  cannotAddParent: permissionStop,
  domainPolicy: "The policy of the organisation blocks this service: ask its administrator to allow it, then resume",
  notFound: "The folder does not exist, or the authorized account cannot see it: choose another, then resume"
}

/** The daily quota does not recover within minutes. */
const dailyLimitRetrySeconds = String(4 * 60 * 60)

const reasonOf = ({ json }: ProviderResponse) =>
  Option.match(decodeError(json), { onNone: () => "", onSome: ({ error }) => error.errors?.[0]?.reason ?? "" })

const describeError = ({ json, status }: ProviderResponse) =>
  Option.match(decodeError(json), {
    onNone: () => `Google Drive answered ${status}`,
    onSome: ({ error: { message } }) => `Google Drive answered ${status}${message === undefined ? "" : `: ${message}`}`
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

import { Effect, Schema } from "effect"
import type { AuthorizedSession } from "../oauth/AuthorizedSession.ts"
import type { ProviderResponse } from "../providerHttp/ProviderRequest.ts"
import { DriveError, toDriveError, toTransientDriveError } from "./DriveError.ts"
import { uploadFile } from "./DriveUpload.ts"

/** A file to upload. */
export interface DriveFile {
  readonly name: string
  readonly pdf: Uint8Array
  readonly folder?: string | undefined
  /** Private app properties that identify the file as ours. Only our app can read them. */
  readonly appProperties: Readonly<Record<string, string>>
}

const GeneratedIds = Schema.Struct({ ids: Schema.NonEmptyArray(Schema.NonEmptyString) })

const FileMetadata = Schema.Struct({
  md5Checksum: Schema.optional(Schema.String),
  trashed: Schema.optional(Schema.Boolean),
  appProperties: Schema.optional(Schema.Record({ key: Schema.String, value: Schema.String }))
})

const decodeReply = <A, I>(schema: Schema.Schema<A, I>, reply: ProviderResponse) =>
  Schema.decodeUnknown(schema)(reply.json).pipe(
    Effect.mapError(() => new DriveError({ message: "Google Drive sent an unexpected response", reply }))
  )

const metadataOf = (file: DriveFile) => ({
  name: file.name,
  mimeType: "application/pdf",
  appProperties: file.appProperties
})

/** Without a folder, a 404 cannot mean a missing folder, so a user has nothing to fix. */
const requireSuccess = (reply: ProviderResponse, folder: string | undefined) => {
  if (reply.status >= 200 && reply.status < 300) return Effect.succeed(reply)
  return Effect.fail(folder === undefined && reply.status === 404 ? toTransientDriveError(reply) : toDriveError(reply))
}

/** Client for the Google Drive API with the access token of one integration. */
export const makeGoogleDriveClient = (session: AuthorizedSession, api: string) => ({
  /** Generates a file id before the upload, which makes `create` idempotent. */
  generateId: Effect.gen(function* () {
    const url = `${api}/drive/v3/files/generateIds?count=1&space=drive&type=files`
    const reply = yield* session.send({ method: "GET", url })
    if (reply.status !== 200) return yield* Effect.fail(toDriveError(reply))
    return (yield* decodeReply(GeneratedIds, reply)).ids[0]
  }),

  /** Creates the file. Returns undefined when a file with this id exists. */
  create: (id: string, file: DriveFile) =>
    Effect.gen(function* () {
      const parents = file.folder === undefined ? {} : { parents: [file.folder] }
      const metadata = { id, ...metadataOf(file), ...parents }
      const url = `${api}/upload/drive/v3/files`
      const reply = yield* uploadFile(session, { method: "POST", url, metadata, pdf: file.pdf })
      return reply.status === 409 ? undefined : yield* requireSuccess(reply, file.folder)
    }),

  /** Replaces the content of an existing file. */
  overwrite: (id: string, file: DriveFile) =>
    Effect.gen(function* () {
      const url = `${api}/upload/drive/v3/files/${encodeURIComponent(id)}`
      const reply = yield* uploadFile(session, { method: "PATCH", url, metadata: metadataOf(file), pdf: file.pdf })
      return yield* requireSuccess(reply, undefined)
    }),

  /** Finds a file. Returns undefined when it does not exist or is in the trash. */
  find: (id: string) =>
    Effect.gen(function* () {
      const url = `${api}/drive/v3/files/${encodeURIComponent(id)}?supportsAllDrives=true&fields=id,md5Checksum,trashed,appProperties`
      const reply = yield* session.send({ method: "GET", url })
      if (reply.status === 404) return undefined
      if (reply.status !== 200) return yield* Effect.fail(toDriveError(reply))
      const file = yield* decodeReply(FileMetadata, reply)
      return file.trashed === true ? undefined : { ...file, reply }
    })
})

export type GoogleDriveClient = ReturnType<typeof makeGoogleDriveClient>

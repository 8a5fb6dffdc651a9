import { Effect, Schema } from "effect"
import type { AuthorizedSession } from "../oauth/AuthorizedSession.ts"
import type { Reply } from "../providerHttp/Calls.ts"
import { plainRefusalOf, Refusal, refusalOf } from "./Refusal.ts"
import { uploading } from "./Uploading.ts"

/** A file that is to lie in a drive. */
export interface DriveFile {
  readonly name: string
  readonly pdf: Uint8Array
  readonly folder?: string | undefined
  /** What tells the file from any other, known to nobody but us. */
  readonly marks: Readonly<Record<string, string>>
}

const Ids = Schema.Struct({ ids: Schema.NonEmptyArray(Schema.NonEmptyString) })

const Found = Schema.Struct({
  md5Checksum: Schema.optional(Schema.String),
  trashed: Schema.optional(Schema.Boolean),
  appProperties: Schema.optional(Schema.Record({ key: Schema.String, value: Schema.String }))
})

const reading = <A, I>(schema: Schema.Schema<A, I>, reply: Reply) =>
  Schema.decodeUnknown(schema)(reply.json).pipe(
    Effect.mapError(() => new Refusal({ message: "The drive answered something that is not to be understood", reply }))
  )

const describe = ({ marks, name }: DriveFile) => ({ name, mimeType: "application/pdf", appProperties: marks })

/** Without a folder there is none to be missed, whatever else was not found. */
const judged = (reply: Reply, folder: string | undefined) => {
  if (reply.status >= 200 && reply.status < 300) return Effect.succeed(reply)
  return Effect.fail(folder === undefined && reply.status === 404 ? plainRefusalOf(reply) : refusalOf(reply))
}

/** What we do in somebody's drive. */
export const driveOver = (session: AuthorizedSession, api: string) => ({
  /** A name for a file that is not there yet. */
  newId: Effect.gen(function* () {
    const url = `${api}/drive/v3/files/generateIds?count=1&space=drive&type=files`
    const reply = yield* session.call({ method: "GET", url })
    if (reply.status !== 200) return yield* Effect.fail(refusalOf(reply))
    return (yield* reading(Ids, reply)).ids[0]
  }),

  /** Makes the file; undefined when there is one of this name already. */
  create: (id: string, file: DriveFile) =>
    Effect.gen(function* () {
      const parents = file.folder === undefined ? {} : { parents: [file.folder] }
      const described = { id, ...describe(file), ...parents }
      const url = `${api}/upload/drive/v3/files`
      const reply = yield* uploading(session, { method: "POST", url, described, pdf: file.pdf })
      return reply.status === 409 ? undefined : yield* judged(reply, file.folder)
    }),

  /** Puts other content into a file that is there. */
  overwrite: (id: string, file: DriveFile) =>
    Effect.gen(function* () {
      const url = `${api}/upload/drive/v3/files/${encodeURIComponent(id)}`
      const reply = yield* uploading(session, { method: "PATCH", url, described: describe(file), pdf: file.pdf })
      return yield* judged(reply, undefined)
    }),

  /** A file that is there; undefined when it is not, or was thrown away. */
  find: (id: string) =>
    Effect.gen(function* () {
      const url = `${api}/drive/v3/files/${encodeURIComponent(id)}?supportsAllDrives=true&fields=id,md5Checksum,trashed,appProperties`
      const reply = yield* session.call({ method: "GET", url })
      if (reply.status === 404) return undefined
      if (reply.status !== 200) return yield* Effect.fail(refusalOf(reply))
      const file = yield* reading(Found, reply)
      return file.trashed === true ? undefined : { ...file, reply }
    })
})

export type Drive = ReturnType<typeof driveOver>

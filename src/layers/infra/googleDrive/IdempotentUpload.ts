import { createHash } from "node:crypto"
import { Effect } from "effect"
import type { ProviderResponse } from "../providerHttp/ProviderRequest.ts"
import { DriveError } from "./DriveError.ts"
import type { DriveFile, GoogleDriveClient } from "./GoogleDriveClient.ts"

/** Stores the Drive file id of a delivery across attempts. Both writes return the id that won a race. */
export interface FileIdStore {
  readonly current: Effect.Effect<string | undefined>
  readonly save: (id: string) => Effect.Effect<string>
  readonly replace: (gone: string, id: string) => Effect.Effect<string>
}

const hasProperties = (expected: DriveFile["appProperties"], actual: Readonly<Record<string, string>> = {}) =>
  Object.entries(expected).every(([name, value]) => actual[name] === value)

const makeConflict = (reply?: ProviderResponse) =>
  new DriveError({ message: "Another file has the identifier of this one", ...(reply === undefined ? {} : { reply }) })

/**
 * Uploads a file exactly once across retries: it saves the file id before the upload. An existing file with the same
 * checksum stays, another checksum is overwritten, and a deleted file is created again with a new id. `begin` runs when
 * all is ready, before the first request that may store the file.
 */
export const uploadOnce = <E>(
  drive: GoogleDriveClient,
  fileIds: FileIdStore,
  file: DriveFile,
  begin: Effect.Effect<void, E>
) =>
  Effect.gen(function* () {
    const id = (yield* fileIds.current) ?? (yield* Effect.flatMap(drive.generateId, fileIds.save))
    yield* begin
    const created = yield* drive.create(id, file)
    if (created !== undefined) return created

    const found = yield* drive.find(id)
    if (found === undefined) {
      const newId = yield* Effect.flatMap(drive.generateId, (next) => fileIds.replace(id, next))
      return (yield* drive.create(newId, file)) ?? (yield* Effect.fail(makeConflict()))
    }
    if (!hasProperties(file.appProperties, found.appProperties)) return yield* Effect.fail(makeConflict(found.reply))
    const isSame = found.md5Checksum === createHash("md5").update(file.pdf).digest("hex")
    return isSame ? found.reply : yield* drive.overwrite(id, file)
  })

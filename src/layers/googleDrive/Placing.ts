import { createHash } from "node:crypto"
import { Effect } from "effect"
import type { Reply } from "../providerHttp/Calls.ts"
import type { Drive, DriveFile } from "./Drive.ts"
import { Refusal } from "./Refusal.ts"

/** Where it is kept which file it is, across attempts. */
export interface FileId {
  readonly current: Effect.Effect<string | undefined>
  readonly keep: (id: string) => Effect.Effect<string>
  readonly replace: (gone: string, id: string) => Effect.Effect<string>
}

const isMarked = (marks: DriveFile["marks"], found: Readonly<Record<string, string>> = {}) =>
  Object.entries(marks).every(([name, value]) => found[name] === value)

const taken = (reply?: Reply) =>
  new Refusal({ message: "Another file is in the place of this one", ...(reply === undefined ? {} : { reply }) })

/**
 * Sees to it that a file lies in a drive once, however often this is done. Its identifier is kept before it is made; one
 * that is there already is left if it is the same, and made the same if it is not. One that was thrown away is made anew.
 */
export const place = (drive: Drive, fileId: FileId, file: DriveFile) =>
  Effect.gen(function* () {
    const id = (yield* fileId.current) ?? (yield* Effect.flatMap(drive.newId, fileId.keep))
    const made = yield* drive.create(id, file)
    if (made !== undefined) return made

    const found = yield* drive.find(id)
    if (found === undefined) {
      const other = yield* Effect.flatMap(drive.newId, (next) => fileId.replace(id, next))
      return (yield* drive.create(other, file)) ?? (yield* Effect.fail(taken()))
    }
    if (!isMarked(file.marks, found.appProperties)) return yield* Effect.fail(taken(found.reply))
    const isSame = found.md5Checksum === createHash("md5").update(file.pdf).digest("hex")
    return isSame ? found.reply : yield* drive.overwrite(id, file)
  })

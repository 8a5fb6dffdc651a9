import { createHash } from "node:crypto"
import { Effect, Stream } from "effect"
import type { ArchiveFile } from "./ZipArchive.ts"

/** The last file of an archive: an archive without it is incomplete. In the format of `sha256sum`. */
export const checksumsName = "SHA256SUMS"

/** Appends the file with the checksums of all files. Checksums are computed while the bytes pass. */
export const withChecksums = <R>(files: Stream.Stream<ArchiveFile<R>, never, R>) =>
  Stream.suspend(() => {
    const lines: Array<string> = []
    const measured = Stream.map(files, ({ bytes, ...file }): ArchiveFile<R> => {
      const hash = createHash("sha256")
      const hashed = Stream.tap(bytes, (chunk) => Effect.sync(() => hash.update(chunk)))
      const record = Effect.sync(() => lines.push(`${hash.digest("hex")}  ${file.name}\n`))
      return { ...file, bytes: Stream.onEnd(hashed, record) }
    })
    const checksums: ArchiveFile<R> = {
      name: checksumsName,
      bytes: Stream.map(
        Stream.suspend(() => Stream.fromIterable(lines)),
        (line) => Buffer.from(line)
      ),
      isCompressible: true
    }
    return Stream.concat(measured, Stream.make(checksums))
  })

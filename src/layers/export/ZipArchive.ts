import * as NodeStream from "@effect/platform-node/NodeStream"
import { Deferred, Effect, Stream } from "effect"
import { ZipFile } from "yazl"

/** A file of an archive. Its bytes are read when the files before it are written. */
export interface ArchiveFile<R = never> {
  readonly name: string
  readonly bytes: Stream.Stream<Uint8Array, never, R>
  /** Whether the bytes get smaller by compression. PDFs and images are compressed already. */
  readonly isCompressible: boolean
}

/**
 * A ZIP archive as a stream, because every system opens one without further programs. Files are written one after the
 * other, each as fast as the stream is read, and with Zip64 where sizes or numbers need it. yazl keeps about 1.5 KB of each
 * file in memory for the directory at the end of the archive.
 */
export const makeZipArchive = <R>(
  files: Stream.Stream<ArchiveFile<R>, never, R>,
  mtime: Date
): Stream.Stream<Uint8Array, never, R> =>
  Stream.unwrapScoped(
    Effect.gen(function* () {
      const zip = new ZipFile()
      const failure = yield* Deferred.make<never>()

      const addFile = ({ bytes, isCompressible, name }: ArchiveFile<R>) =>
        Effect.acquireUseRelease(
          NodeStream.toReadable(bytes),
          (readable) =>
            Effect.async<void>((resume) => {
              readable.once("end", () => resume(Effect.void)).once("error", (error) => resume(Effect.die(error)))
              zip.addReadStream(readable, name, { mtime, compress: isCompressible })
            }),
          (readable) => Effect.sync(() => readable.destroy())
        )

      yield* Stream.runForEach(files, addFile).pipe(
        Effect.zipRight(Effect.sync(() => zip.end())),
        Effect.catchAllCause((cause) => Deferred.failCause(failure, cause)),
        Effect.forkScoped
      )
      const output = NodeStream.fromReadable(
        () => zip.outputStream,
        (error) => error
      )
      return Stream.interruptWhenDeferred(Stream.orDie(output), failure)
    })
  )

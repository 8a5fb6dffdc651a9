import { Context, type Effect, type Stream } from "effect"

/** Location of a blob's bytes. A place is written once, read any number of times, and never shared between tenants. */
export interface BlobLocation {
  readonly tenant: string
  readonly place: string
}

/** Stores bytes in PostgreSQL or S3. The store knows neither the digests of blobs nor the references to them. */
export class BlobStore extends Context.Tag("layers/BlobStore")<
  BlobStore,
  {
    /**
     * Writes a stream of bytes, a few hundred KiB at a time, without holding a connection while it waits for the next
     * chunk. Fails only with the errors of the stream. After a failure the caller removes the part that was written.
     */
    readonly put: <E>(
      place: BlobLocation,
      bytes: Stream.Stream<Uint8Array, E>,
      size: number | undefined
    ) => Effect.Effect<void, E>
    readonly read: (place: BlobLocation) => Stream.Stream<Uint8Array>
    /** Also succeeds when the place is empty. */
    readonly remove: (place: BlobLocation) => Effect.Effect<void>
  }
>() {}

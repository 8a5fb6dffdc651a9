import { Context, type Effect, type Stream } from "effect"

/** Where the bytes of something lie: a place is written once, read any number of times, and never shared by tenants. */
export interface BlobPlace {
  readonly tenant: string
  readonly place: string
}

/** Keeps bytes, in PostgreSQL or outside. What lies where, and who needs it, is not the store's to know. */
export class BlobStore extends Context.Tag("layers/BlobStore")<
  BlobStore,
  {
    /**
     * Takes bytes as they come, a few hundred KiB at a time, holding nothing while it waits for more. It fails as they do
     * and with nothing else; whatever part was kept by then is to be removed.
     */
    readonly put: <E>(
      place: BlobPlace,
      bytes: Stream.Stream<Uint8Array, E>,
      size: number | undefined
    ) => Effect.Effect<void, E>
    readonly read: (place: BlobPlace) => Stream.Stream<Uint8Array>
    /** Succeeds also when nothing lies there. */
    readonly remove: (place: BlobPlace) => Effect.Effect<void>
  }
>() {}

import { PassThrough, Readable } from "node:stream"
import { type Cause, Duration, Effect, Fiber, Layer, Stream } from "effect"
import { makeFairSemaphore } from "../concurrency/FairSemaphore.ts"
import { Settings } from "../config/Settings.ts"
import { type BlobLocation, BlobStore } from "./BlobStore.ts"
import { BlobStoreUnavailable, toStoreDefect } from "./BlobStoreUnavailable.ts"
import { connectS3 } from "./S3Connection.ts"
import { collectBytes, writeExactly } from "./SizedBody.ts"

/** A body without an announced size is buffered whole, because S3 needs the size first. */
const maxBufferedBytes = 5 * 1024 * 1024
/** Limits the buffered bodies per tenant, because a slow client holds its permit for long. */
const bufferLimits = {
  permits: 16,
  maxPerKey: 4,
  maxQueuedPerKey: 256,
  maxQueued: 1024,
  timeout: Duration.seconds(30)
}

/** Bodies up to this size are buffered whole. The store then does not wait for a slow client, and the SDK can retry. */
const maxUnstreamedBytes = 256 * 1024

/** Timeouts per attempt until the store begins to respond. A streamed body has none, because its client can be slow. */
const requestTimeoutMs = { bufferedPut: 10_000, default: 5_000 }

const isNotFound = (cause: unknown) => cause instanceof Error && cause.name === "NoSuchKey"

const make = Effect.gen(function* () {
  const client = yield* connectS3
  const { BLOB_STORE_BUCKET, BLOB_STORE_PREFIX } = yield* Settings
  const bufferSemaphore = makeFairSemaphore(bufferLimits, (rejection) => new BlobStoreUnavailable({ cause: rejection }))

  const locate = ({ place, tenant }: BlobLocation) => ({
    Bucket: BLOB_STORE_BUCKET,
    Key: [BLOB_STORE_PREFIX, tenant, place].filter((part) => part !== undefined).join("/")
  })

  const die = ({ cause }: Cause.UnknownException) => Effect.die(toStoreDefect(cause))

  const send = (at: BlobLocation, Body: Readable | Buffer, ContentLength: number) => {
    const timeout = Buffer.isBuffer(Body) ? { requestTimeout: requestTimeoutMs.bufferedPut } : {}
    return Effect.tryPromise((abortSignal) =>
      client.putObject({ ...locate(at), Body, ContentLength }, { abortSignal, ...timeout })
    ).pipe(Effect.catchAll(die))
  }

  /**
   * Streams bytes to the store. A failure of the stream aborts the request, and S3 creates no object from a partial
   * body. After the last byte this waits for the response even when interrupted: otherwise the object could appear
   * after the caller has given up and removed it.
   */
  const putStreamed = <E>(at: BlobLocation, bytes: Stream.Stream<Uint8Array, E>, size: number) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        const body = new PassThrough()
        const request = yield* Effect.fork(Effect.interruptible(send(at, body, size)))
        const requestFailure = Effect.zipRight(Fiber.join(request), Effect.never)
        yield* restore(Effect.raceFirst(writeExactly(body, bytes, size), requestFailure)).pipe(
          Effect.onError(() =>
            Effect.zipRight(
              Fiber.interrupt(request),
              Effect.sync(() => body.destroy())
            )
          )
        )
        yield* Fiber.join(request)
      })
    )

  const putBuffered = <E>(at: BlobLocation, bytes: Stream.Stream<Uint8Array, E>, minBytes: number, maxBytes: number) =>
    Effect.flatMap(collectBytes(bytes, minBytes, maxBytes), (body) =>
      Effect.uninterruptible(send(at, body, body.length))
    )

  const emptyBody = () => Readable.from([])

  const open = (at: BlobLocation) =>
    Effect.tryPromise((abortSignal) =>
      client.getObject(locate(at), { abortSignal, requestTimeout: requestTimeoutMs.default })
    ).pipe(
      Effect.map(({ Body }) => (Body instanceof Readable ? Body : emptyBody())),
      Effect.catchAll((failed) => (isNotFound(failed.cause) ? Effect.succeed(emptyBody()) : die(failed)))
    )

  return BlobStore.of({
    put: (at, bytes, size) => {
      if (size === undefined) {
        const uploaded = bufferSemaphore.withPermit(
          [at.tenant],
          Effect.either(putBuffered(at, bytes, 0, maxBufferedBytes))
        )
        return Effect.flatten(Effect.orDie(uploaded))
      }
      return size > maxUnstreamedBytes ? putStreamed(at, bytes, size) : putBuffered(at, bytes, size, size)
    },

    read: (at) =>
      Stream.unwrap(
        Effect.map(open(at), (body) => Stream.orDie(Stream.fromAsyncIterable<Uint8Array, unknown>(body, toStoreDefect)))
      ),

    remove: (at) =>
      Effect.tryPromise((abortSignal) =>
        client.deleteObject(locate(at), { abortSignal, requestTimeout: requestTimeoutMs.default })
      ).pipe(Effect.catchAll(die))
  })
})

/** Stores blobs as objects of a bucket of an S3-compatible store. */
export const S3Blobs = Layer.scoped(BlobStore, make)

import { PassThrough, Readable } from "node:stream"
import { type Cause, Duration, Effect, Fiber, Layer, Stream } from "effect"
import { makeFairSemaphore } from "../concurrency/FairSemaphore.ts"
import { Settings } from "../config/Settings.ts"
import { type BlobPlace, BlobStore } from "./BlobStore.ts"
import { connectS3 } from "./S3Connection.ts"
import { collect, writeSized } from "./SizedBody.ts"
import { StoreUnavailable, storeDefect } from "./StoreUnavailable.ts"

/** Without an announced size a body must be held whole, since the store wants to know beforehand. */
const mostHeld = 5 * 1024 * 1024
/** A sender may be slow, so one tenant leaves places to others. */
const holderLimits = {
  permits: 16,
  maxPerKey: 4,
  maxQueuedPerKey: 256,
  maxQueued: 1024,
  timeout: Duration.seconds(30)
}

/** So few are sent at once: a slow sender does not keep the store waiting, and what fails can be sent again. */
const mostAtOnce = 256 * 1024

/** How long each attempt may take until the store begins to answer, where no sender can be the one who is slow. */
const patience = { held: 10_000, short: 5_000 }

const isAbsent = (cause: unknown) => cause instanceof Error && cause.name === "NoSuchKey"

const make = Effect.gen(function* () {
  const client = yield* connectS3
  const { BLOB_STORE_BUCKET, BLOB_STORE_PREFIX } = yield* Settings
  const holders = makeFairSemaphore(holderLimits, (refused) => new StoreUnavailable({ cause: refused }))

  const locate = ({ place, tenant }: BlobPlace) => ({
    Bucket: BLOB_STORE_BUCKET,
    Key: [BLOB_STORE_PREFIX, tenant, place].filter((part) => part !== undefined).join("/")
  })

  const die = ({ cause }: Cause.UnknownException) => Effect.die(storeDefect(cause))

  const send = (at: BlobPlace, Body: Readable | Buffer, ContentLength: number) => {
    const limit = Buffer.isBuffer(Body) ? { requestTimeout: patience.held } : {}
    return Effect.tryPromise((abortSignal) =>
      client.putObject({ ...locate(at), Body, ContentLength }, { abortSignal, ...limit })
    ).pipe(Effect.catchAll(die))
  }

  /**
   * Passes bytes on as they come. When they fail the request is ended before it is whole, which makes no object. Once
   * all are sent the answer is awaited in any case: an object must not come to be after everyone has turned away.
   */
  const pass = <E>(at: BlobPlace, bytes: Stream.Stream<Uint8Array, E>, size: number) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        const body = new PassThrough()
        const sending = yield* Effect.fork(Effect.interruptible(send(at, body, size)))
        const refused = Effect.zipRight(Fiber.join(sending), Effect.never)
        yield* restore(Effect.raceFirst(writeSized(body, bytes, size), refused)).pipe(
          Effect.onError(() =>
            Effect.zipRight(
              Fiber.interrupt(sending),
              Effect.sync(() => body.destroy())
            )
          )
        )
        yield* Fiber.join(sending)
      })
    )

  const whole = <E>(at: BlobPlace, bytes: Stream.Stream<Uint8Array, E>, least: number, most: number) =>
    Effect.flatMap(collect(bytes, least, most), (held) => Effect.uninterruptible(send(at, held, held.length)))

  const nothing = () => Readable.from([])

  const open = (at: BlobPlace) =>
    Effect.tryPromise((abortSignal) =>
      client.getObject(locate(at), { abortSignal, requestTimeout: patience.short })
    ).pipe(
      Effect.map(({ Body }) => (Body instanceof Readable ? Body : nothing())),
      Effect.catchAll((failed) => (isAbsent(failed.cause) ? Effect.succeed(nothing()) : die(failed)))
    )

  return BlobStore.of({
    put: (at, bytes, size) => {
      if (size === undefined) {
        const held = holders.withPermit([at.tenant], Effect.either(whole(at, bytes, 0, mostHeld)))
        return Effect.flatten(Effect.orDie(held))
      }
      return size > mostAtOnce ? pass(at, bytes, size) : whole(at, bytes, size, size)
    },

    read: (at) =>
      Stream.unwrap(
        Effect.map(open(at), (body) => Stream.orDie(Stream.fromAsyncIterable<Uint8Array, unknown>(body, storeDefect)))
      ),

    remove: (at) =>
      Effect.tryPromise((abortSignal) =>
        client.deleteObject(locate(at), { abortSignal, requestTimeout: patience.short })
      ).pipe(Effect.catchAll(die))
  })
})

/** Blobs as objects of a bucket, in a store that speaks S3. */
export const S3Blobs = Layer.scoped(BlobStore, make)

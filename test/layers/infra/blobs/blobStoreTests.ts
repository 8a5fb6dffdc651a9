import { randomBytes } from "node:crypto"
import { Chunk, Data, Deferred, Effect, Fiber, Stream } from "effect"
import { assert, it, vi } from "vitest"
import { type BlobLocation, BlobStore } from "../../../../src/layers/infra/blobs/BlobStore.ts"

export class Broken extends Data.TaggedError("Broken")<{ readonly why: string }> {}

const mebibyte = 1024 * 1024
const pieceBytes = 128 * 1024

export const inPieces = (bytes: Uint8Array, size = pieceBytes) =>
  Stream.fromIterable(
    Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) => bytes.subarray(n * size, (n + 1) * size))
  )

const sizes = [1, 1000, pieceBytes - 1, pieceBytes, pieceBytes + 1, 3 * pieceBytes, 2 * mebibyte + 7, 5 * mebibyte]

let locations = 0
/** A new location that no other test uses. */
export const newLocation = (tenant = "tnt_a") => ({ tenant, place: `upl_${process.pid}_${locations++}` })

/** The tests that every BlobStore passes. `run` provides the store under test. */
export const testBlobStore = (run: <A, E>(work: Effect.Effect<A, E, BlobStore>) => Promise<A>) => {
  const put = <E>(at: ReturnType<typeof newLocation>, bytes: Stream.Stream<Uint8Array, E>, size?: number) =>
    Effect.flatMap(BlobStore, (store) => store.put(at, bytes, size))
  const remove = (at: ReturnType<typeof newLocation>) => Effect.flatMap(BlobStore, (store) => store.remove(at))
  const read = (at: ReturnType<typeof newLocation>) =>
    Effect.flatMap(BlobStore, (store) => Stream.runCollect(store.read(at))).pipe(
      Effect.map((pieces) => Buffer.concat(Chunk.toReadonlyArray(pieces)))
    )

  it.each(sizes)("returns %i bytes unchanged, with and without an announced size", async (size) => {
    for (const announced of [size, undefined]) {
      const [at, bytes] = [newLocation(), randomBytes(size)]
      await run(put(at, inPieces(bytes), announced))
      assert.isTrue((await run(read(at))).equals(bytes), `announced: ${announced}`)
    }
  })

  it.each([1, 999, 16 * 1024, 64 * 1024, 200_000])("accepts a body in pieces of %i bytes", async (piece) => {
    const bytes = randomBytes(Math.min(1000 * piece, 400_003))
    for (const announced of [bytes.length, undefined]) {
      const at = newLocation()
      await run(put(at, inPieces(bytes, piece), announced))
      assert.isTrue((await run(read(at))).equals(bytes))
    }
  })

  it("removes one blob and accepts the removal of a missing blob", async () => {
    const [at, neighbour, bytes] = [newLocation(), newLocation(), randomBytes(300_000)]
    await run(Effect.all([put(at, inPieces(bytes), bytes.length), put(neighbour, inPieces(bytes), bytes.length)]))
    await run(remove(at))
    await assertRemoved(at)
    assert.isTrue((await run(read(neighbour))).equals(bytes))
  })

  it("reads no bytes of a missing blob or of a blob of another tenant", async () => {
    const at = newLocation()
    assert.strictEqual((await run(read(at))).length, 0)
    await run(put(at, inPieces(randomBytes(10)), 10))
    assert.strictEqual((await run(read({ ...at, tenant: "tnt_b" }))).length, 0)
  })

  /** Unlike S3, the test server stores the bytes of an aborted request, and notices the abort later. */
  const assertRemoved = async (at: BlobLocation) => {
    await vi.waitFor(async () => {
      await run(remove(at))
      assert.strictEqual((await run(read(at))).length, 0)
    }, 10_000)
  }

  it.each([[2 * mebibyte], [undefined]])(
    "fails with the error of the body, announced size %s, and leaves a removable location",
    async (size) => {
      const at = newLocation()
      const failing = Stream.concat(inPieces(randomBytes(mebibyte)), Stream.fail(new Broken({ why: "half way" })))
      const failure = await run(Effect.flip(put(at, failing, size)))
      assert.deepStrictEqual(failure, new Broken({ why: "half way" }))
      await assertRemoved(at)
    }
  )

  it("stops an upload that is interrupted while its body stalls", async () => {
    const at = newLocation()
    const interrupted = Effect.gen(function* () {
      const stalled = yield* Deferred.make<void>()
      const stall = Stream.fromEffect(Effect.zipRight(Deferred.succeed(stalled, undefined), Effect.never))
      const fiber = yield* Effect.fork(put(at, Stream.concat(inPieces(randomBytes(mebibyte)), stall), 2 * mebibyte))
      yield* Deferred.await(stalled)
      return yield* Fiber.interrupt(fiber)
    })
    assert.strictEqual((await run(interrupted))._tag, "Failure")
    await assertRemoved(at)
  })

  it("stores fifty blobs concurrently without mixing them up", async () => {
    const all = Array.from({ length: 50 }, (_, n) => ({ at: newLocation(), n, bytes: randomBytes(n * 5000 + 1) }))
    await run(
      Effect.forEach(all, ({ at, bytes, n }) => put(at, inPieces(bytes), n % 2 === 0 ? bytes.length : undefined), {
        concurrency: "unbounded"
      })
    )
    const contents = await run(Effect.forEach(all, ({ at }) => read(at), { concurrency: "unbounded" }))
    assert.deepStrictEqual(
      all.map(({ bytes }, n) => contents[n]?.equals(bytes)),
      all.map(() => true)
    )
  })
}

import { randomBytes } from "node:crypto"
import { Chunk, Data, Effect, Fiber, Stream } from "effect"
import { assert, it, vi } from "vitest"
import { type BlobLocation, BlobStore } from "../../../src/layers/blobs/BlobStore.ts"

export class Broken extends Data.TaggedError("Broken")<{ readonly why: string }> {}

const mebibyte = 1024 * 1024
const pieceBytes = 128 * 1024

export const inPieces = (bytes: Uint8Array, size = pieceBytes) =>
  Stream.fromIterable(
    Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) => bytes.subarray(n * size, (n + 1) * size))
  )

const sizes = [1, 1000, pieceBytes - 1, pieceBytes, pieceBytes + 1, 3 * pieceBytes, 2 * mebibyte + 7, 5 * mebibyte]

let places = 0
export const somewhere = (tenant = "tnt_a") => ({ tenant, place: `upl_${process.pid}_${places++}` })

/** What every store of blobs does alike. `run` runs against the one that is tested. */
export const keepsItsContract = (run: <A, E>(work: Effect.Effect<A, E, BlobStore>) => Promise<A>) => {
  const put = <E>(at: ReturnType<typeof somewhere>, bytes: Stream.Stream<Uint8Array, E>, size?: number) =>
    Effect.flatMap(BlobStore, (store) => store.put(at, bytes, size))
  const remove = (at: ReturnType<typeof somewhere>) => Effect.flatMap(BlobStore, (store) => store.remove(at))
  const read = (at: ReturnType<typeof somewhere>) =>
    Effect.flatMap(BlobStore, (store) => Stream.runCollect(store.read(at))).pipe(
      Effect.map((pieces) => Buffer.concat(Chunk.toReadonlyArray(pieces)))
    )

  it.each(sizes)("gives %i bytes back as they were, whether their number was announced or not", async (size) => {
    for (const announced of [size, undefined]) {
      const [at, bytes] = [somewhere(), randomBytes(size)]
      await run(put(at, inPieces(bytes), announced))
      assert.isTrue((await run(read(at))).equals(bytes), `announced: ${announced}`)
    }
  })

  it.each([1, 999, 16 * 1024, 64 * 1024, 200_000])("does not mind pieces of %i bytes", async (piece) => {
    const bytes = randomBytes(Math.min(1000 * piece, 400_003))
    for (const announced of [bytes.length, undefined]) {
      const at = somewhere()
      await run(put(at, inPieces(bytes, piece), announced))
      assert.isTrue((await run(read(at))).equals(bytes))
    }
  })

  it("removes what is there, and again what is not", async () => {
    const [at, neighbour, bytes] = [somewhere(), somewhere(), randomBytes(300_000)]
    await run(Effect.all([put(at, inPieces(bytes), bytes.length), put(neighbour, inPieces(bytes), bytes.length)]))
    await run(remove(at))
    await cleared(at)
    assert.isTrue((await run(read(neighbour))).equals(bytes))
  })

  it("reads nothing where nothing lies, nor what lies there for another tenant", async () => {
    const at = somewhere()
    assert.strictEqual((await run(read(at))).length, 0)
    await run(put(at, inPieces(randomBytes(10)), 10))
    assert.strictEqual((await run(read({ ...at, tenant: "tnt_b" }))).length, 0)
  })

  /** The server of the tests, unlike the real ones, keeps what came of a request that was cut off, and only notices later. */
  const cleared = async (at: BlobLocation) => {
    await vi.waitFor(async () => {
      await run(remove(at))
      assert.strictEqual((await run(read(at))).length, 0)
    }, 10_000)
  }

  it.each([[2 * mebibyte], [undefined]])("fails as its sender does, announced %s, and can be cleared", async (size) => {
    const at = somewhere()
    const failing = Stream.concat(inPieces(randomBytes(mebibyte)), Stream.fail(new Broken({ why: "half way" })))
    const failure = await run(Effect.flip(put(at, failing, size)))
    assert.deepStrictEqual(failure, new Broken({ why: "half way" }))
    await cleared(at)
  })

  it("stops when it is told to, whatever its sender does", async () => {
    const at = somewhere()
    const halting = Stream.concat(inPieces(randomBytes(mebibyte)), Stream.never)
    const stopped = Effect.gen(function* () {
      const fiber = yield* Effect.fork(put(at, halting, 2 * mebibyte))
      yield* Effect.sleep("200 millis")
      return yield* Fiber.interrupt(fiber)
    })
    assert.strictEqual((await run(stopped))._tag, "Failure")
    await cleared(at)
  })

  it("takes fifty at once and mixes none up", async () => {
    const all = Array.from({ length: 50 }, (_, n) => ({ at: somewhere(), n, bytes: randomBytes(n * 5000 + 1) }))
    await run(
      Effect.forEach(all, ({ at, bytes, n }) => put(at, inPieces(bytes), n % 2 === 0 ? bytes.length : undefined), {
        concurrency: "unbounded"
      })
    )
    const back = await run(Effect.forEach(all, ({ at }) => read(at), { concurrency: "unbounded" }))
    assert.deepStrictEqual(
      all.map(({ bytes }, n) => back[n]?.equals(bytes)),
      all.map(() => true)
    )
  })
}

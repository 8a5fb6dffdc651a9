import { randomBytes } from "node:crypto"
import type { IncomingMessage } from "node:http"
import { Cause, Effect, Exit, Layer, ManagedRuntime, Stream } from "effect"
import { afterAll, assert, beforeAll, describe, it, vi } from "vitest"
import { BlobStore } from "../../../../src/layers/infra/blobs/BlobStore.ts"
import { BlobStoreUnavailable } from "../../../../src/layers/infra/blobs/BlobStoreUnavailable.ts"
import { S3Blobs } from "../../../../src/layers/infra/blobs/S3Blobs.ts"
import { WrongSize } from "../../../../src/layers/infra/blobs/SizedBody.ts"
import { readSettings, Settings } from "../../../../src/layers/infra/config/Settings.ts"
import { useFixture } from "../../../support/fixtures/useFixture.ts"
import { serveOnLoopback } from "../../../support/servers/loopback.ts"
import { findClosedPort } from "../../../support/servers/proxy.ts"
import { type S3, startS3 } from "../../../support/servers/s3.ts"
import { Broken, inPieces, newLocation, testBlobStore } from "./blobStoreTests.ts"

const runtimeOn = (settings: Readonly<Record<string, string>>) =>
  ManagedRuntime.make(Layer.provide(S3Blobs, Layer.effect(Settings, Effect.orDie(readSettings(settings)))))

const put = <E>(bytes: Stream.Stream<Uint8Array, E>, size?: number) =>
  Effect.flatMap(BlobStore, (store) => store.put(newLocation(), bytes, size))

const defectOf = (exit: Exit.Exit<unknown, unknown>) => Cause.squash(Exit.isFailure(exit) ? exit.cause : Cause.empty)

/** Requests to a store that accepts connections and never responds. Their timeouts pass while the other tests run. */
const startStalledRequests = async () => {
  const s3 = await startS3()
  const runtime = runtimeOn(s3.settings)
  s3.proxy.stall()
  const at = newLocation()
  const requests: ReadonlyArray<Effect.Effect<unknown, unknown, BlobStore>> = [
    put(inPieces(randomBytes(300_000)), 300_000),
    put(inPieces(randomBytes(1000))),
    Effect.flatMap(BlobStore, (store) => Stream.runDrain(store.read(at))),
    Effect.flatMap(BlobStore, (store) => store.remove(at))
  ]
  const exits = Promise.all(requests.map((request) => runtime.runPromiseExit(request)))
  const stop = async () => {
    await runtime.dispose()
    await s3.stop()
  }
  return { s3, runtime, exits, stop }
}
const stalled = useFixture(startStalledRequests)

describe("S3Blobs", () => {
  let s3: S3
  let runtime: ReturnType<typeof runtimeOn>
  beforeAll(async () => {
    s3 = await startS3()
    runtime = runtimeOn(s3.settings)
  })
  afterAll(async () => {
    await runtime.dispose()
    await s3.stop()
  })

  testBlobStore((work) => runtime.runPromise(work))

  it("names objects by prefix, tenant and location", async () => {
    const prefixed = runtimeOn({ ...s3.settings, BLOB_STORE_PREFIX: "deep/down" })
    const at = newLocation("tnt_named")
    await prefixed.runPromise(Effect.flatMap(BlobStore, (store) => store.put(at, inPieces(randomBytes(9)), 9)))
    assert.include(s3.keys(), `deep/down/tnt_named/${at.place}`)
    await prefixed.dispose()
  })

  it("rejects a body without an announced size beyond 5 MiB", async () => {
    const exit = await runtime.runPromiseExit(put(inPieces(randomBytes(6 * 1024 * 1024))))
    assert.instanceOf(defectOf(exit), WrongSize)
  })
})

describe("A put of S3Blobs", () => {
  const requests: Array<IncomingMessage> = []
  const statuses: Array<number> = []
  let server: Awaited<ReturnType<typeof serveOnLoopback>>
  let runtime: ReturnType<typeof runtimeOn>
  const keys = { BLOB_STORE_BUCKET: "images", BLOB_STORE_ACCESS_KEY_ID: "a", BLOB_STORE_SECRET_ACCESS_KEY: "b" }
  beforeAll(async () => {
    server = await serveOnLoopback((request, response) => {
      requests.push(request)
      request.on("error", () => {}).resume()
      request.on("end", () => response.writeHead(statuses.shift() ?? 200).end())
    })
    runtime = runtimeOn({ ...keys, BLOB_STORE_ENDPOINT: server.url })
  })
  afterAll(async () => {
    await runtime.dispose()
    await server.stop()
  })

  it.each([
    [
      "its body fails",
      Stream.concat(inPieces(randomBytes(300_000)), Stream.fail(new Broken({ why: "gone" }))),
      "Broken"
    ],
    ["its body is shorter than announced", inPieces(randomBytes(399_999)), "WrongSize"],
    ["its body is longer than announced", inPieces(randomBytes(400_001)), "WrongSize"]
  ])("aborts the request when %s", async (_, bytes, tag) => {
    requests.length = 0
    assert.propertyVal(defectOf(await runtime.runPromiseExit(put(bytes, 400_000))), "_tag", tag)
    await vi.waitFor(() => assert.isTrue(requests[0]?.destroyed))
    assert.deepStrictEqual(
      requests.map(({ complete }) => complete),
      [false]
    )
  })

  it.each([1, 200_000])("sends no request when a small body does not have its announced %i bytes", async (size) => {
    requests.length = 0
    for (const length of [size - 1, size + 1]) {
      assert.instanceOf(defectOf(await runtime.runPromiseExit(put(inPieces(randomBytes(length)), size))), WrongSize)
    }
    assert.deepStrictEqual(requests, [])
  })

  it.each([500, 503, 429])("retries a buffered body after a %i and fails a streamed body", async (status) => {
    const [small, large] = [randomBytes(10), randomBytes(300_000)]
    for (const size of [small.length, undefined]) {
      statuses.push(status, status)
      await runtime.runPromise(put(inPieces(small), size))
    }
    statuses.push(status)
    assert.instanceOf(defectOf(await runtime.runPromiseExit(put(inPieces(large), large.length))), BlobStoreUnavailable)
  })

  it("dies with an internal error after a 403", async () => {
    statuses.push(403)
    const defect = defectOf(await runtime.runPromiseExit(put(inPieces(randomBytes(10)), 10)))
    assert.notInstanceOf(defect, BlobStoreUnavailable)
    assert.instanceOf(defect, Error)
  })

  it("fails as unavailable when the store refuses connections", async () => {
    const unreachable = runtimeOn({ ...keys, BLOB_STORE_ENDPOINT: `http://127.0.0.1:${await findClosedPort()}` })
    for (const size of [10, 300_000, undefined]) {
      const exit = await unreachable.runPromiseExit(put(inPieces(randomBytes(size ?? 10)), size))
      assert.instanceOf(defectOf(exit), BlobStoreUnavailable)
    }
    await unreachable.dispose()
  })
})

describe("S3Blobs with a store that does not respond", () => {
  it("fails every request as unavailable and works again when the store responds", { timeout: 60_000 }, async () => {
    const { exits, runtime, s3 } = stalled()
    for (const exit of await exits) assert.instanceOf(defectOf(exit), BlobStoreUnavailable)
    s3.proxy.resume()
    await runtime.runPromise(put(inPieces(randomBytes(1000)), 1000))
  })
})

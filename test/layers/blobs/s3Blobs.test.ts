import { randomBytes } from "node:crypto"
import type { IncomingMessage } from "node:http"
import { Cause, Effect, Exit, Layer, ManagedRuntime, Stream } from "effect"
import { afterAll, assert, beforeAll, describe, it, onTestFinished, vi } from "vitest"
import { BlobStore } from "../../../src/layers/blobs/BlobStore.ts"
import { BlobStoreUnavailable } from "../../../src/layers/blobs/BlobStoreUnavailable.ts"
import { S3Blobs } from "../../../src/layers/blobs/S3Blobs.ts"
import { WrongSize } from "../../../src/layers/blobs/SizedBody.ts"
import { readSettings, Settings } from "../../../src/layers/config/Settings.ts"
import { serveOnLoopback } from "../../support/servers/loopback.ts"
import { findClosedPort } from "../../support/servers/proxy.ts"
import { type S3, startS3 } from "../../support/servers/s3.ts"
import { Broken, inPieces, keepsItsContract, somewhere } from "./storeContract.ts"

const runtimeOn = (settings: Readonly<Record<string, string>>) =>
  ManagedRuntime.make(Layer.provide(S3Blobs, Layer.effect(Settings, Effect.orDie(readSettings(settings)))))

const put = <E>(bytes: Stream.Stream<Uint8Array, E>, size?: number) =>
  Effect.flatMap(BlobStore, (store) => store.put(somewhere(), bytes, size))

const defectOf = (exit: Exit.Exit<unknown, unknown>) => Cause.squash(Exit.isFailure(exit) ? exit.cause : Cause.empty)

describe("a store that speaks S3", () => {
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

  keepsItsContract((work) => runtime.runPromise(work))

  it("names objects by prefix, tenant and place", async () => {
    const prefixed = runtimeOn({ ...s3.settings, BLOB_STORE_PREFIX: "deep/down" })
    const at = somewhere("tnt_named")
    await prefixed.runPromise(Effect.flatMap(BlobStore, (store) => store.put(at, inPieces(randomBytes(9)), 9)))
    assert.include(s3.keys(), `deep/down/tnt_named/${at.place}`)
    await prefixed.dispose()
  })

  it("does not wait for ever for a store that never answers", { timeout: 60_000 }, async () => {
    const at = somewhere()
    const bytes = randomBytes(1000)
    onTestFinished(() => s3.door.flow())
    s3.door.stall()
    const asked = [
      put(inPieces(randomBytes(300_000)), 300_000),
      put(inPieces(bytes)),
      Effect.flatMap(BlobStore, (store) => Stream.runDrain(store.read(at))),
      Effect.flatMap(BlobStore, (store) => store.remove(at))
    ]
    for (const exit of await Promise.all(asked.map((work) => runtime.runPromiseExit(work)))) {
      assert.instanceOf(defectOf(exit), BlobStoreUnavailable)
    }
    s3.door.flow()
    await runtime.runPromise(put(inPieces(bytes), bytes.length))
  })

  it("refuses to hold more than it may", async () => {
    const exit = await runtime.runPromiseExit(put(inPieces(randomBytes(6 * 1024 * 1024))))
    assert.instanceOf(defectOf(exit), WrongSize)
  })
})

describe("what is sent to a store that speaks S3", () => {
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
      "its sender fails",
      Stream.concat(inPieces(randomBytes(300_000)), Stream.fail(new Broken({ why: "gone" }))),
      "Broken"
    ],
    ["less comes than was announced", inPieces(randomBytes(399_999)), "WrongSize"],
    ["more comes than was announced", inPieces(randomBytes(400_001)), "WrongSize"]
  ])("is cut off when %s", async (_, bytes, tag) => {
    requests.length = 0
    assert.propertyVal(defectOf(await runtime.runPromiseExit(put(bytes, 400_000))), "_tag", tag)
    await vi.waitFor(() => assert.isTrue(requests[0]?.destroyed))
    assert.deepStrictEqual(
      requests.map(({ complete }) => complete),
      [false]
    )
  })

  it.each([1, 200_000])("is nothing when not exactly the %i bytes came that were announced", async (size) => {
    requests.length = 0
    for (const came of [size - 1, size + 1]) {
      assert.instanceOf(defectOf(await runtime.runPromiseExit(put(inPieces(randomBytes(came)), size))), WrongSize)
    }
    assert.deepStrictEqual(requests, [])
  })

  it.each([500, 503, 429])(
    "may be answered by a passing %i, and is sent again where it still is there",
    async (status) => {
      const [few, many] = [randomBytes(10), randomBytes(300_000)]
      for (const size of [few.length, undefined]) {
        statuses.push(status, status)
        await runtime.runPromise(put(inPieces(few), size))
      }
      statuses.push(status)
      assert.instanceOf(defectOf(await runtime.runPromiseExit(put(inPieces(many), many.length))), BlobStoreUnavailable)
    }
  )

  it("may be refused for good, which is a fault of ours", async () => {
    statuses.push(403)
    const defect = defectOf(await runtime.runPromiseExit(put(inPieces(randomBytes(10)), 10)))
    assert.notInstanceOf(defect, BlobStoreUnavailable)
    assert.instanceOf(defect, Error)
  })

  it("may reach nobody", async () => {
    const lonely = runtimeOn({ ...keys, BLOB_STORE_ENDPOINT: `http://127.0.0.1:${await findClosedPort()}` })
    for (const size of [10, 300_000, undefined]) {
      const exit = await lonely.runPromiseExit(put(inPieces(randomBytes(size ?? 10)), size))
      assert.instanceOf(defectOf(exit), BlobStoreUnavailable)
    }
    await lonely.dispose()
  })
})

import { Effect, Layer } from "effect"
import { afterAll, assert, beforeAll, describe, it, onTestFinished } from "vitest"
import { BlobStoreLive } from "../../../../src/layers/infra/blobs/BlobStoreLive.ts"
import { JanitorDependencies, runCleanupRound } from "../../../../src/workers/janitor/Janitor.ts"
import { assertUnavailable } from "../../../support/assertions/failures.ts"
import { randomPng } from "../../../support/fixtures/randomPng.ts"
import { openPool } from "../../../support/servers/database.ts"
import { testLayers } from "../../../support/servers/layers.ts"
import { type S3, startS3 } from "../../../support/servers/s3.ts"
import { type Service, startService } from "../../../support/servers/service.ts"

const largeSize = 4 * 1024 * 1024

describe("The service with BLOB_STORE_BUCKET", () => {
  let s3: S3
  let service: Service
  let sql: ReturnType<typeof openPool>
  let tenant: string
  beforeAll(async () => {
    s3 = await startS3()
    service = await startService(s3.settings)
    sql = openPool(service.database.url)
    tenant = await service.newTenant()
  })
  afterAll(async () => {
    await sql.end()
    await service.stop()
    await s3.stop()
  })

  const api = (method: string, path: string, body?: object) =>
    service.api(method, path, { as: "owner", tenant, ...(body === undefined ? {} : { body }) })

  const cleanUp = () =>
    Effect.runPromise(
      runCleanupRound.pipe(
        Effect.provide(
          JanitorDependencies.pipe(
            Layer.provide(BlobStoreLive),
            Layer.provideMerge(testLayers(service.database.url, { DATA_DIR: service.dataDir, ...s3.settings }))
          )
        )
      )
    )

  const declare = async (owner = tenant) => {
    const body = { kind: "BRANDING_LOGO", contentType: "image/png" }
    const { body: created } = await service.api("POST", "/assets", { as: "owner", tenant: owner, body })
    return String(created.data.assetId)
  }
  /** A stream goes without a Content-Length. */
  const upload = async (assetId: string, bytes: Uint8Array | ReadableStream, owner = tenant) => {
    const response = await fetch(`${service.url}/api/v1/assets/${assetId}/content`, {
      method: "PUT",
      headers: { authorization: `Bearer ${await service.token("owner")}`, "tenant-id": owner },
      body: bytes,
      duplex: "half"
    })
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
  const createReady = async (bytes: Uint8Array, owner = tenant) => {
    const assetId = await declare(owner)
    assert.strictEqual((await upload(assetId, bytes, owner)).status, 200)
    const { status } = await service.api("POST", `/assets/${assetId}/complete`, { as: "owner", tenant: owner })
    assert.strictEqual(status, 200)
    return assetId
  }
  const download = async (assetId: string) => {
    const response = await fetch(`${service.url}/api/v1/assets/${assetId}`)
    return Buffer.from(await response.arrayBuffer())
  }
  const statusOf = async (assetId: string) => (await api("GET", `/assets/${assetId}/record`)).body.data.status
  const keysOf = (owner: string) => s3.keys().filter((key) => key.startsWith(`${owner}/`))

  it("stores equal images as one object and removes it with the last asset", async () => {
    const png = randomPng(largeSize)
    const [one, other] = [await createReady(png), await createReady(png)]
    assert.isTrue((await download(one)).equals(png))
    assert.strictEqual(keysOf(tenant).length, 1, "equal bytes share one object")
    assert.deepStrictEqual((await sql.query("select 1 from blob_chunks")).rows, [])
    for (const assetId of [one, other]) {
      assert.isTrue((await download(assetId)).equals(png))
      assert.strictEqual((await api("DELETE", `/assets/${assetId}`)).status, 204)
      await cleanUp()
      assert.strictEqual(keysOf(tenant).length, assetId === one ? 1 : 0)
    }
  })

  it("accepts an upload without Content-Length and rejects one beyond the maximum size", async () => {
    const [assetId, png] = [await declare(), randomPng(100_000)]
    assert.strictEqual((await upload(assetId, new Blob([png]).stream())).status, 200)
    assert.strictEqual((await api("POST", `/assets/${assetId}/complete`)).body.data.sizeBytes, png.length)
    assert.strictEqual((await api("DELETE", `/assets/${assetId}`)).status, 204)
    await cleanUp()
    assert.deepStrictEqual(keysOf(tenant), [])
    for (const body of [randomPng(6_000_000), new Blob([randomPng(6_000_000)]).stream()]) {
      assert.strictEqual((await upload(await declare(), body)).status, 413)
    }
  })

  it.each([1000, largeSize])(
    "responds 503 to uploads while the store is down and accepts %i bytes after that",
    async (size) => {
      const [assetId, png] = [await declare(), randomPng(size)]
      onTestFinished(async () => void (await s3.proxy.restore().catch(() => {})))
      await s3.proxy.disconnect()
      assertUnavailable(await upload(assetId, png))
      assertUnavailable(await upload(assetId, new Blob([png]).stream()))
      assert.strictEqual(await statusOf(assetId), "PENDING")
      await s3.proxy.restore()
      assert.strictEqual((await upload(assetId, png)).status, 200)

      await s3.proxy.disconnect()
      assertUnavailable(await api("POST", `/assets/${assetId}/complete`))
      assert.strictEqual(await statusOf(assetId), "PENDING")
      await s3.proxy.restore()
      assert.strictEqual((await api("POST", `/assets/${assetId}/complete`)).body.data.status, "READY")
      assert.isTrue((await download(assetId)).equals(png))
    }
  )

  it.each([1000, largeSize])("responds 503 to a download of %i bytes while the store is down", async (size) => {
    const assetId = await createReady(randomPng(size))
    onTestFinished(async () => void (await s3.proxy.restore().catch(() => {})))
    await s3.proxy.disconnect()
    assertUnavailable(await service.call("GET", `/api/v1/assets/${assetId}`))
  })

  it("erases the objects of a deleted tenant only", async () => {
    const [deleted, kept] = [await service.newTenant(), await service.newTenant()]
    const png = randomPng(1000)
    for (const owner of [deleted, deleted, kept]) await createReady(owner === kept ? png : randomPng(1000), owner)
    assert.deepStrictEqual([keysOf(deleted).length, keysOf(kept).length], [2, 1])
    await service.api("DELETE", `/tenants/${deleted}`, { as: "owner" })
    await sql.query("update tenants set deleted_at = now() - interval '31 days' where id = $1", [deleted])

    await s3.proxy.disconnect()
    const hasFailed = await cleanUp().then(
      () => false,
      () => true
    )
    await s3.proxy.restore()
    assert.isTrue(hasFailed)
    assert.strictEqual((await sql.query("select 1 from tenants where id = $1", [deleted])).rowCount, 1)
    await cleanUp()
    assert.deepStrictEqual([keysOf(deleted).length, keysOf(kept).length], [0, 1])
    assert.strictEqual((await sql.query("select 1 from tenants where id = $1", [deleted])).rowCount, 0)
  })
})

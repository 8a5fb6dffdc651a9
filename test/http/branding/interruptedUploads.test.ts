import { request } from "node:http"
import { text } from "node:stream/consumers"
import { Effect, Layer } from "effect"
import type pg from "pg"
import { afterAll, assert, beforeAll, describe, it, onTestFinished, vi } from "vitest"
import { Blobs } from "../../../src/layers/branding/Blobs.ts"
import { PostgresBlobs } from "../../../src/layers/infra/blobs/PostgresBlobs.ts"
import { JanitorDependencies, runCleanupRound } from "../../../src/workers/janitor/Janitor.ts"
import {
  assertFailure,
  assertUnavailable,
  assertValidationError,
  internalText
} from "../../support/assertions/failures.ts"
import { type AssetClient, assetClient } from "../../support/fixtures/assets.ts"
import { gif, png } from "../../support/fixtures/images.ts"
import { lockRow } from "../../support/fixtures/rowLock.ts"
import { freshDatabase, openPool } from "../../support/servers/database.ts"
import { testLayers } from "../../support/servers/layers.ts"
import { type Proxy, startProxy } from "../../support/servers/proxy.ts"
import type { RawResponse } from "../../support/servers/rawHttp.ts"
import { type Service, startService } from "../../support/servers/service.ts"

const waitOptions = { timeout: 60_000, interval: 20 }

describe("Image uploads", { timeout: 60_000 }, () => {
  let database: Awaited<ReturnType<typeof freshDatabase>>
  let proxy: Proxy
  let service: Service
  let sql: pg.Pool
  let tenant: string
  let assets: AssetClient
  beforeAll(async () => {
    database = await freshDatabase()
    proxy = await startProxy(database.url)
    service = await startService({ DATABASE_URL: proxy.url })
    sql = openPool(database.url)
    tenant = await service.newTenant()
    assets = assetClient(service, tenant)
  })
  afterAll(async () => {
    await sql.end()
    await service.stop()
    await proxy.stop()
    await database.drop()
  })

  const count = async (statement: string, ...values: ReadonlyArray<string>) =>
    (await sql.query<{ count: number }>(statement, [...values])).rows[0]?.count ?? 0
  /** Chunks that belong to no blob. */
  const orphanedChunks = () =>
    count("select count(*)::int from blob_chunks c where not exists (select 1 from blobs b where b.place = c.place)")
  const openUploads = () => count("select count(*)::int from uploads")
  const eventTypesOf = async (id: string) => {
    const { rows } = await sql.query<{ type: string }>(
      "select type from events where resource_id = $1 order by sequence",
      [id]
    )
    return rows.map(({ type }) => type)
  }

  const blobs = <A>(use: (blobs: Blobs) => Effect.Effect<A>) =>
    Effect.runPromise(
      Effect.flatMap(Blobs, use).pipe(
        Effect.provide(Blobs.Default.pipe(Layer.provide(PostgresBlobs), Layer.provide(testLayers(database.url))))
      )
    )
  const deleteAbandoned = () => blobs(({ deleteAbandonedUploads }) => deleteAbandonedUploads(1000))
  const runJanitor = () =>
    Effect.runPromise(
      runCleanupRound.pipe(
        Effect.provide(
          JanitorDependencies.pipe(
            Layer.provide(PostgresBlobs),
            Layer.provideMerge(testLayers(database.url, { DATA_DIR: service.dataDir }))
          )
        )
      )
    )

  /** Sends the headers of an upload. */
  const beginUpload = async (id: string, length: number) => {
    const outgoing = request(`${service.url}/api/v1/assets/${id}/content`, {
      method: "PUT",
      agent: false,
      headers: {
        authorization: `Bearer ${await service.token("owner")}`,
        "tenant-id": tenant,
        "content-length": length
      }
    })
    const response = new Promise<RawResponse>((resolve, reject) => {
      outgoing.on("error", reject)
      outgoing.on("response", (incoming) => {
        const headers = Object.entries(incoming.headers).map(([name, value]): [string, string] => [name, String(value)])
        const status = incoming.statusCode ?? 0
        text(incoming).then((text) => resolve({ status, headers: new Headers(headers), text }), reject)
      })
    })
    // A test that destroys the request does not await the response.
    response.catch(() => {})
    return { outgoing, response }
  }

  /** An upload of which half is stored. */
  const uploadHalf = async () => {
    const bytes = png({ bytes: 1_000_000 })
    const { assetId } = await assets.declare()
    const before = await orphanedChunks()
    const { response, outgoing } = await beginUpload(assetId, bytes.length)
    outgoing.write(bytes.subarray(0, 500_000))
    await vi.waitFor(async () => assert.isAbove(await orphanedChunks(), before), waitOptions)
    return { assetId, bytes, outgoing, response, rest: bytes.subarray(500_000) }
  }

  const assertNotUploaded = async (assetId: string) => {
    assert.strictEqual((await assets.record(assetId)).body.data.status, "PENDING")
    assertValidationError(await assets.complete(assetId), [
      "content",
      "required",
      "is not uploaded yet; send the image with PUT /assets/{assetId}/content first"
    ])
    assert.strictEqual((await service.call("GET", `/api/v1/assets/${assetId}`)).status, 404)
  }
  const assertRetryWorks = async (assetId: string, bytes: Uint8Array) => {
    assert.strictEqual((await assets.put(assetId, bytes)).status, 200)
    assert.strictEqual((await assets.complete(assetId)).body.data.sizeBytes, bytes.length)
    assert.strictEqual((await service.call("GET", `/api/v1/assets/${assetId}`)).status, 200)
  }

  it("leave no bytes when the client disconnects, and can be repeated", async () => {
    const { assetId, bytes, outgoing } = await uploadHalf()
    outgoing.destroy()
    await vi.waitFor(
      async () => assert.deepStrictEqual([await orphanedChunks(), await openUploads()], [0, 0]),
      waitOptions
    )
    await assertNotUploaded(assetId)
    await assertRetryWorks(assetId, bytes)
  })

  it("fail with 503 when the database goes away, and their bytes are deleted after an hour", async () => {
    const { response, assetId, bytes, outgoing, rest } = await uploadHalf()
    onTestFinished(() => proxy.restore().catch(() => {}))
    await proxy.disconnect()
    outgoing.end(rest)
    assertUnavailable(await response)
    await proxy.restore()
    await assertNotUploaded(assetId)

    // The janitor cannot tell an abandoned upload from a running one before an hour has passed.
    assert.isAbove(await orphanedChunks(), 0)
    assert.strictEqual(await deleteAbandoned(), 0)
    assert.strictEqual(await openUploads(), 1)
    await sql.query("update uploads set started_at = now() - interval '61 minutes'")
    assert.strictEqual(await deleteAbandoned(), 1)
    assert.deepStrictEqual([await orphanedChunks(), await openUploads()], [0, 0])
    await assertRetryWorks(assetId, bytes)
  })

  it("fail with 503 or are complete after a short outage of the database", async () => {
    const { response, assetId, bytes, outgoing, rest } = await uploadHalf()
    await proxy.disconnect()
    await proxy.restore()
    outgoing.end(rest)
    const { status } = await response
    assert.include([200, 503], status)
    if (status === 503) await assertNotUploaded(assetId)
    await assertRetryWorks(assetId, bytes)
  })

  it("cannot be completed while the database is away, and can be afterwards", async () => {
    const { assetId } = await assets.upload(png())
    await proxy.disconnect()
    assertUnavailable(await assets.complete(assetId))
    await proxy.restore()
    assert.strictEqual((await assets.record(assetId)).body.data.status, "PENDING")
    assert.strictEqual((await assets.complete(assetId)).status, 200)
  })

  it("keep their bytes when the response to COMMIT is lost", async () => {
    const { assetId } = await assets.declare()
    proxy.dropResponseTo("COMMIT")
    assertUnavailable(await assets.put(assetId, png()))
    assert.strictEqual((await assets.complete(assetId)).status, 200)
    assert.strictEqual((await service.call("GET", `/api/v1/assets/${assetId}`)).status, 200)
  })

  it("that are slow delay no other request and hold no database connection", async () => {
    const bytes = png()
    // More than the database pool has connections.
    const slowUploads = 2 * service.settings.DATABASE_POOL
    const slow = await Promise.all(
      Array.from({ length: slowUploads }, async () => {
        const { assetId } = await assets.declare()
        return { assetId, ...(await beginUpload(assetId, bytes.length)) }
      })
    )
    let sent = 0
    const sendNext = () => {
      for (const { outgoing } of slow) outgoing.write(bytes.subarray(sent, sent + 1))
      sent += 1
    }
    sendNext()
    await vi.waitFor(async () => assert.strictEqual(await openUploads(), slowUploads), waitOptions)

    let completed = 0
    for (const { response } of slow) response.finally(() => completed++).catch(() => {})
    while (sent < 4) {
      sendNext()
      const call = (method: string, path: string, body?: object) =>
        service.api(method, path, { as: "owner", tenant, ...(body === undefined ? {} : { body }) })
      const responses = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          n % 2 === 0 ? call("GET", "/clients") : call("POST", "/clients", { name: "Meanwhile" })
        )
      )
      for (const [n, { status }] of responses.entries()) assert.strictEqual(status, n % 2 === 0 ? 200 : 201)
      const busy = await count(
        `select count(*)::int from pg_stat_activity where datname = current_database()
         and application_name = 'contracting' and (xact_start is not null or state <> 'idle')`
      )
      assert.strictEqual(busy, 0)
    }
    assert.strictEqual(completed, 0, "uploads that ended before the other requests")
    for (const { outgoing } of slow) outgoing.end(bytes.subarray(sent))
    for (const { response } of slow) assert.strictEqual((await response).status, 200)
    for (const { assetId } of slow.slice(0, 3)) assert.strictEqual((await assets.complete(assetId)).status, 200)
  })

  it("are served with 503 while their bytes are locked, and with 500 once they are damaged", async () => {
    const { assetId } = await assets.createReady({}, png({ bytes: 300_000 }))
    const read = () => service.call("GET", `/api/v1/assets/${assetId}`)
    const locker = await sql.connect()
    try {
      await locker.query("begin; lock table blob_chunks in access exclusive mode")
      assertUnavailable(await read())
    } finally {
      await locker.query("rollback")
      locker.release()
    }
    assert.strictEqual((await read()).status, 200)
    await sql.query(
      `delete from blob_chunks c using blobs b, assets a
       where a.id = $1 and b.digest = a.digest and c.place = b.place and c.n = 0`,
      [assetId]
    )
    assertFailure(await read(), 500, internalText)
  })

  const makeOld = (...ids: ReadonlyArray<string>) =>
    sql.query("update assets set updated_at = now() - interval '25 hours' where id = any($1)", [ids])

  it("are deleted after a day unless they are READY", async () => {
    const { assetId: declared } = await assets.declare()
    const { assetId: uploaded } = await assets.upload(png({ bytes: 200_000 }))
    const { assetId: failed } = await assets.upload(gif)
    assert.strictEqual((await assets.complete(failed)).status, 400)
    const { assetId: ready } = await assets.createReady()
    const { assetId: recent } = await assets.upload(png())
    await runJanitor()
    for (const id of [declared, uploaded, failed]) assert.strictEqual((await assets.record(id)).status, 200)

    await makeOld(declared, uploaded, failed, ready)
    await Promise.all([runJanitor(), runJanitor()])
    for (const id of [declared, uploaded, failed]) {
      assert.strictEqual((await assets.record(id)).status, 404)
      assert.strictEqual((await eventTypesOf(id)).at(-1), "asset.deleted")
    }
    assert.strictEqual((await assets.record(recent)).body.data.status, "PENDING")
    assert.strictEqual((await service.call("GET", `/api/v1/assets/${ready}`)).status, 200)
    assert.deepStrictEqual([await orphanedChunks(), await openUploads()], [0, 0])
    const orphans =
      "select count(*)::int from blobs b where not exists (select 1 from assets a where a.digest = b.digest)"
    assert.strictEqual(await count(orphans), 0)
  })

  it("are kept if they are updated while the janitor waits for their row", async () => {
    const { assetId } = await assets.upload(png())
    await makeOld(assetId)
    const row = await lockRow(sql, "select 1 from assets where id = $1 for update", assetId)
    const janitor = runJanitor()
    await row.untilWaiting(1)
    await row.runInTransaction("update assets set updated_at = now() where id = $1", assetId)
    await row.release()
    await janitor
    assert.strictEqual((await assets.complete(assetId)).status, 200)
  })
})

import { request } from "node:http"
import { text } from "node:stream/consumers"
import { Effect, Layer } from "effect"
import type pg from "pg"
import { afterAll, assert, beforeAll, describe, it, onTestFinished, vi } from "vitest"
import { PostgresBlobs } from "../../../src/layers/blobs/PostgresBlobs.ts"
import { Blobs } from "../../../src/layers/branding/Blobs.ts"
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

const patience = { timeout: 15_000, interval: 20 }

describe("an upload in trouble", { timeout: 60_000 }, () => {
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
  /** How much was written that is no blob. */
  const leftovers = () =>
    count("select count(*)::int from blob_chunks c where not exists (select 1 from blobs b where b.place = c.place)")
  const notes = () => count("select count(*)::int from uploads")
  const typesOf = async (id: string) => {
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
  const sweep = () => blobs(({ deleteAbandonedUploads }) => deleteAbandonedUploads(1000))
  const round = () =>
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

  /** The beginning of an upload, whose rest may follow or never come. */
  const begin = async (id: string, length: number) => {
    const outgoing = request(`${service.url}/api/v1/assets/${id}/content`, {
      method: "PUT",
      agent: false,
      headers: {
        authorization: `Bearer ${await service.token("owner")}`,
        "tenant-id": tenant,
        "content-length": length
      }
    })
    const answer = new Promise<RawResponse>((resolve, reject) => {
      outgoing.on("error", reject)
      outgoing.on("response", (response) => {
        const headers = Object.entries(response.headers).map(([name, value]): [string, string] => [name, String(value)])
        const status = response.statusCode ?? 0
        text(response).then((text) => resolve({ status, headers: new Headers(headers), text }), reject)
      })
    })
    // Whoever wants to know awaits it; whoever leaves does not.
    answer.catch(() => {})
    return { outgoing, answer }
  }

  /** An asset and an upload of which half has arrived and is written down. */
  const halfway = async () => {
    const bytes = png({ bytes: 1_000_000 })
    const { assetId } = await assets.declare()
    const before = await leftovers()
    const { answer, outgoing } = await begin(assetId, bytes.length)
    outgoing.write(bytes.subarray(0, 500_000))
    await vi.waitFor(async () => assert.isAbove(await leftovers(), before), patience)
    return { assetId, bytes, outgoing, answer, rest: bytes.subarray(500_000) }
  }

  const assertNothingThere = async (assetId: string) => {
    assert.strictEqual((await assets.record(assetId)).body.data.status, "PENDING")
    assertValidationError(await assets.complete(assetId), [
      "content",
      "required",
      "has not been uploaded yet; PUT the bytes to /assets/{assetId}/content"
    ])
    assert.strictEqual((await service.call("GET", `/api/v1/assets/${assetId}`)).status, 404)
  }
  const assertRetryWorks = async (assetId: string, bytes: Uint8Array) => {
    assert.strictEqual((await assets.put(assetId, bytes)).status, 200)
    assert.strictEqual((await assets.complete(assetId)).body.data.sizeBytes, bytes.length)
    assert.strictEqual((await service.call("GET", `/api/v1/assets/${assetId}`)).status, 200)
  }

  it("that breaks off leaves nothing, and can be made again", async () => {
    const { assetId, bytes, outgoing } = await halfway()
    outgoing.destroy()
    await vi.waitFor(async () => assert.deepStrictEqual([await leftovers(), await notes()], [0, 0]), patience)
    await assertNothingThere(assetId)
    await assertRetryWorks(assetId, bytes)
  })

  it("during which the database goes away is told so, and what it left is swept", async () => {
    const { answer, assetId, bytes, outgoing, rest } = await halfway()
    onTestFinished(() => proxy.restore().catch(() => {}))
    await proxy.cut()
    outgoing.end(rest)
    assertUnavailable(await answer)
    await proxy.restore()
    await assertNothingThere(assetId)

    // Nobody could take it away while the database was gone; it might be somebody's who is still at it.
    assert.isAbove(await leftovers(), 0)
    assert.strictEqual(await sweep(), 0)
    assert.strictEqual(await notes(), 1)
    await sql.query("update uploads set started_at = now() - interval '61 minutes'")
    assert.strictEqual(await sweep(), 1)
    assert.deepStrictEqual([await leftovers(), await notes()], [0, 0])
    await assertRetryWorks(assetId, bytes)
  })

  it("during which the database goes away for a moment fails or is whole", async () => {
    const { answer, assetId, bytes, outgoing, rest } = await halfway()
    await proxy.cut()
    await proxy.restore()
    outgoing.end(rest)
    const { status } = await answer
    assert.include([200, 503], status)
    if (status === 503) await assertNothingThere(assetId)
    await assertRetryWorks(assetId, bytes)
  })

  it("cannot be completed while the database is away, and can afterwards", async () => {
    const { assetId } = await assets.uploaded(png())
    await proxy.cut()
    assertUnavailable(await assets.complete(assetId))
    await proxy.restore()
    assert.strictEqual((await assets.record(assetId)).body.data.status, "PENDING")
    assert.strictEqual((await assets.complete(assetId)).status, 200)
  })

  it("keeps the bytes it brought when nobody hears that it succeeded", async () => {
    const { assetId } = await assets.declare()
    proxy.loseAnswerTo("COMMIT")
    assertUnavailable(await assets.put(assetId, png()))
    assert.strictEqual((await assets.complete(assetId)).status, 200)
    assert.strictEqual((await service.call("GET", `/api/v1/assets/${assetId}`)).status, 200)
  })

  it("that takes its time holds up nobody and holds no connection", async () => {
    const bytes = png()
    const slow = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const { assetId } = await assets.declare()
        return { assetId, ...(await begin(assetId, bytes.length)) }
      })
    )
    let sent = 0
    const sendNext = () => {
      for (const { outgoing } of slow) outgoing.write(bytes.subarray(sent, sent + 1))
      sent += 1
    }
    sendNext()
    const drip = setInterval(sendNext, 1000)
    onTestFinished(() => clearInterval(drip))
    const isBegun = async () => assert.strictEqual(await notes(), 50)
    await vi.waitFor(isBegun, patience)

    let arrived = 0
    for (const { answer } of slow) answer.finally(() => arrived++).catch(() => {})
    while (sent < 4) {
      const call = (method: string, path: string, body?: object) =>
        service.api(method, path, { as: "owner", tenant, ...(body === undefined ? {} : { body }) })
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          n % 2 === 0 ? call("GET", "/clients") : call("POST", "/clients", { name: "Meanwhile" })
        )
      )
      for (const [n, { status }] of answers.entries()) assert.strictEqual(status, n % 2 === 0 ? 200 : 201)
      const busy = await count(
        `select count(*)::int from pg_stat_activity where datname = current_database()
         and application_name = 'contracting' and (xact_start is not null or state <> 'idle')`
      )
      assert.strictEqual(busy, 0)
    }
    assert.strictEqual(arrived, 0, "others were answered before any upload had ended")
    clearInterval(drip)
    for (const { outgoing } of slow) outgoing.end(bytes.subarray(sent))
    for (const { answer } of slow) assert.strictEqual((await answer).status, 200)
    for (const { assetId } of slow.slice(0, 3)) assert.strictEqual((await assets.complete(assetId)).status, 200)
  })

  it("leaves an image whose bytes cannot be read a 503, and one that turns out damaged at once a 500", async () => {
    const { assetId } = await assets.ready({}, png({ bytes: 300_000 }))
    const read = () => service.call("GET", `/api/v1/assets/${assetId}`)
    const holder = await sql.connect()
    try {
      await holder.query("begin; lock table blob_chunks in access exclusive mode")
      assertUnavailable(await read())
    } finally {
      await holder.query("rollback")
      holder.release()
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

  it("that nobody came back to is swept after a day, and nothing that is ready", async () => {
    const { assetId: declared } = await assets.declare()
    const { assetId: uploaded } = await assets.uploaded(png({ bytes: 200_000 }))
    const { assetId: failed } = await assets.uploaded(gif)
    assert.strictEqual((await assets.complete(failed)).status, 400)
    const { assetId: ready } = await assets.ready()
    const { assetId: recent } = await assets.uploaded(png())
    await round()
    for (const id of [declared, uploaded, failed]) assert.strictEqual((await assets.record(id)).status, 200)

    await makeOld(declared, uploaded, failed, ready)
    await Promise.all([round(), round()])
    for (const id of [declared, uploaded, failed]) {
      assert.strictEqual((await assets.record(id)).status, 404)
      assert.strictEqual((await typesOf(id)).at(-1), "asset.deleted")
    }
    assert.strictEqual((await assets.record(recent)).body.data.status, "PENDING")
    assert.strictEqual((await service.call("GET", `/api/v1/assets/${ready}`)).status, 200)
    assert.deepStrictEqual([await leftovers(), await notes()], [0, 0])
    const orphans =
      "select count(*)::int from blobs b where not exists (select 1 from assets a where a.digest = b.digest)"
    assert.strictEqual(await count(orphans), 0)
  })

  it("that somebody came back to at the last moment is left alone", async () => {
    const { assetId } = await assets.uploaded(png())
    await makeOld(assetId)
    const row = await lockRow(sql, "select 1 from assets where id = $1 for update", assetId)
    const swept = round()
    await row.until(1)
    await row.meanwhile("update assets set updated_at = now() where id = $1", assetId)
    await row.release()
    await swept
    assert.strictEqual((await assets.complete(assetId)).status, 200)
  })
})

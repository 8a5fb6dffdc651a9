import type pg from "pg"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import {
  assertFailure,
  assertValidationError,
  type ExpectedError,
  notFoundText
} from "../../support/assertions/failures.ts"
import { type AssetClient, assetClient } from "../../support/fixtures/assets.ts"
import { gif, png } from "../../support/fixtures/images.ts"
import { type ResourceBody, resourceMaker } from "../../support/fixtures/resources.ts"
import { openPool } from "../../support/servers/database.ts"
import { type Service, type ServiceResponse, startService } from "../../support/servers/service.ts"
import { openLoggedDatabase } from "../../support/servers/statementLog.ts"

const owners = ["clients", "tenants"] as const
type Owners = (typeof owners)[number]

const dataOf = ({ text }: Pick<ServiceResponse, "text">) => text.slice('{"data":'.length, -1)

describe("Media", () => {
  let database: Awaited<ReturnType<typeof openLoggedDatabase>>
  let service: Service
  let sql: pg.Pool
  beforeAll(async () => {
    database = await openLoggedDatabase()
    service = await startService({ DATABASE_URL: database.url })
    sql = openPool(database.url)
  })
  afterAll(async () => {
    await sql.end()
    await service.stop()
    await database.drop()
  })

  const callIn =
    (tenant: string) =>
    (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
      service.api(method, path, { as: "owner", tenant, headers, ...(body === undefined ? {} : { body }) })

  /** A new tenant and its client, one of which the images are attached to. */
  const setUp = async (kind: Owners) => {
    const tenant = await service.newTenant()
    const call = callIn(tenant)
    const id = kind === "tenants" ? tenant : (await resourceMaker(service, tenant).make("clients")).id
    const path = `/${kind}/${id}`
    return {
      tenant,
      call,
      id,
      path,
      assets: assetClient(service, tenant),
      attach: (slot: string, body: unknown, headers?: Record<string, string>) =>
        call("PUT", `${path}/media/${slot}`, body, headers),
      detach: (slot: string, headers?: Record<string, string>) =>
        call("DELETE", `${path}/media/${slot}`, undefined, headers)
    }
  }
  const failedAsset = async (assets: AssetClient) => {
    const { assetId } = await assets.upload(gif)
    assert.strictEqual((await assets.complete(assetId)).status, 400)
    return assetId
  }

  for (const kind of owners) {
    it(`of ${kind} are attached, replaced and detached`, async () => {
      const { assets, attach, call, detach, path } = await setUp(kind)
      const before: ResourceBody = (await call("GET", path)).body.data
      assert.deepStrictEqual(before["media"], [])
      const [logo, background] = [
        await assets.createReady(),
        await assets.createReady({ kind: "BRANDING_BACKGROUND", access: "SIGNED" }, png())
      ]

      const first = await attach("logo", { assetId: logo.assetId })
      assert.strictEqual(first.status, 200)
      const [item] = first.body.data.media
      assert.match(item.attachmentId, /^att_[0-9a-z]{26}$/)
      const attachment = {
        attachmentId: item.attachmentId,
        slot: "logo",
        order: 0,
        assetId: logo.assetId,
        kind: "BRANDING_LOGO",
        status: "READY",
        url: `/api/v1/assets/${logo.assetId}`
      }
      assert.deepStrictEqual(first.body.data, { ...before, media: [attachment], updatedAt: first.body.data.updatedAt })
      assert.deepStrictEqual(Object.keys(item), Object.keys(attachment))
      assert.isTrue(first.body.data.updatedAt >= String(before["updatedAt"]))
      assert.strictEqual((await call("GET", path)).text, first.text)

      const second = await attach("page-2-background", { assetId: background.assetId, order: 7 })
      assert.deepStrictEqual(second.body.data.media[0], attachment)
      assert.deepInclude(second.body.data.media[1], {
        slot: "page-2-background",
        order: 7,
        assetId: background.assetId,
        kind: "BRANDING_BACKGROUND",
        url: `/api/v1/assets/${background.assetId}`
      })

      const replaced = await attach("logo", { assetId: background.assetId, order: 9 })
      assert.deepStrictEqual(
        replaced.body.data.media.map(({ assetId, order, slot }: Record<string, unknown>) => [slot, order, assetId]),
        [
          ["page-2-background", 7, background.assetId],
          ["logo", 9, background.assetId]
        ]
      )
      assert.strictEqual((await call("GET", path)).text, replaced.text)

      assert.strictEqual((await detach("page-2-background")).status, 204)
      assert.lengthOf((await call("GET", path)).body.data.media, 1)
      assertFailure(await detach("page-2-background"), 404, notFoundText)
      assert.strictEqual((await detach("logo")).status, 204)
      assert.deepStrictEqual((await call("GET", path)).body.data.media, [])
    })

    it(`of ${kind} are sorted by order and slot, and survive other changes`, async () => {
      const { assets, attach, call, path } = await setUp(kind)
      const { assetId } = await assets.createReady()
      for (const [slot, order] of [
        ["d", 1],
        ["b", undefined],
        ["c", 9007199254740991],
        ["a", 1],
        ["b2", 0]
      ] as const) {
        await attach(slot, { assetId, ...(order === undefined ? {} : { order }) })
      }
      const changed = await call("PATCH", path, { name: "Renamed" })
      assert.deepStrictEqual(
        changed.body.data.media.map(({ order, slot }: { order: number; slot: string }) => [slot, order]),
        [
          ["b", 0],
          ["b2", 0],
          ["a", 1],
          ["d", 1],
          ["c", 9007199254740991]
        ]
      )
      assertValidationError(await call("PATCH", path, { media: [] }), ["media", "unknown", "is not a known property"])
    })

    it(`of ${kind} must be READY assets of the same tenant`, async () => {
      const { assets, attach, call, path } = await setUp(kind)
      const foreign = await assetClient(service, await service.newTenant()).createReady()
      const before = (await call("GET", path)).text
      const state = (status: string): ExpectedError => [
        "assetId",
        "state",
        `is ${status}; only a READY asset can be attached`
      ]
      const unknown: ExpectedError = ["assetId", "exists", "does not exist in this tenant"]
      const { assetId: deleted } = await assets.createReady()
      await assets.remove(deleted)
      for (const [assetId, error] of [
        [(await assets.declare()).assetId, state("PENDING")],
        [(await assets.upload(png())).assetId, state("PENDING")],
        [await failedAsset(assets), state("FAILED")],
        [foreign.assetId, unknown],
        [`ast_${"0".repeat(26)}`, unknown],
        [deleted, unknown],
        ["nonsense", ["assetId", "format", "must be an asset identifier (ast_…)"]]
      ] as const) {
        assertValidationError(await attach("logo", { assetId }), error)
      }
      assertValidationError(await attach("logo", { order: 1 }), ["assetId", "required", "is required"])
      assertValidationError(await attach("logo", { assetId: foreign.assetId, slot: "a" }), [
        "slot",
        "unknown",
        "is not a known property"
      ])
      assert.strictEqual((await call("GET", path)).text, before)
    })

    it(`of ${kind} accept only valid slot names`, async () => {
      const { assets, attach, detach } = await setUp(kind)
      const { assetId } = await assets.createReady()
      for (const slot of ["a", "a-1", `a${"0".repeat(62)}`]) {
        assert.strictEqual((await attach(slot, { assetId })).status, 200, slot)
        assert.strictEqual((await detach(slot)).status, 204, slot)
      }
      for (const slot of ["1a", "-a", "Logo", "lo_go", "lo%20go", "%C3%A4", `a${"0".repeat(63)}`]) {
        assertFailure(await attach(slot, { assetId }), 404, notFoundText, slot)
        assertFailure(await detach(slot), 404, notFoundText, slot)
      }
    })

    it(`of ${kind} prevent the deletion of their asset`, async () => {
      const { assets, attach, detach } = await setUp(kind)
      const { assetId } = await assets.createReady()
      await attach("logo", { assetId })
      const before = (await assets.record(assetId)).text
      assertValidationError(await assets.remove(assetId), ["id", "inUse", "is still used by 1 media slot"])
      assert.strictEqual((await assets.record(assetId)).text, before)
      assert.strictEqual((await service.call("GET", `/api/v1/assets/${assetId}`)).status, 200)
      await detach("logo")
      assert.strictEqual((await assets.remove(assetId)).status, 204)
    })

    it(`of ${kind} are attached or their asset is deleted when both are requested at once`, async () => {
      const { assets, attach, call, path } = await setUp(kind)
      for (let round = 0; round < 5; round++) {
        const { assetId } = await assets.createReady()
        const [attached, removed] = await Promise.all([attach(`s${round}`, { assetId }), assets.remove(assetId)])
        assert.include(
          [
            [200, 400],
            [400, 204]
          ].map(String),
          String([attached.status, removed.status])
        )
        const slots = (await call("GET", path)).body.data.media.map(({ slot }: { slot: string }) => slot)
        assert.strictEqual(slots.includes(`s${round}`), attached.status === 200)
      }
    })

    it(`of ${kind} are all attached when many requests attach at once`, async () => {
      const { assets, attach, call, path } = await setUp(kind)
      const { assetId } = await assets.createReady()
      const responses = await Promise.all(
        Array.from({ length: 8 }, (_, n) => attach(`s${n % 4}`, { assetId, order: n }))
      )
      assert.deepStrictEqual(new Set(responses.map(({ status }) => status)), new Set([200]))
      assert.lengthOf((await call("GET", path)).body.data.media, 4)
    })

    it(`of ${kind} are recorded in events and honour If-Match`, async () => {
      const { assets, attach, call, detach, id, path } = await setUp(kind)
      const { assetId } = await assets.createReady({ access: "SIGNED" })
      const eventsOf = async () =>
        (
          await sql.query<{ type: string; sequence: number; data: string }>(
            "select type, sequence, data::text as data from events where resource_id = $1 order by sequence",
            [id]
          )
        ).rows
      const etag = (await call("GET", path)).headers.get("etag") ?? ""
      const stale = { "if-match": '"stale"' }
      assert.strictEqual((await attach("logo", { assetId }, stale)).status, 412)
      assert.lengthOf(await eventsOf(), 1)
      const attached = await attach("logo", { assetId }, { "if-match": etag })
      assert.strictEqual(attached.status, 200)
      assert.strictEqual((await detach("logo", { "if-match": etag })).status, 412)
      assert.strictEqual((await detach("logo", { "if-match": attached.headers.get("etag") ?? "" })).status, 204)
      const after = await call("GET", path)
      const name = kind.slice(0, -1)
      assert.deepStrictEqual(
        (await eventsOf()).slice(1).map(({ data, sequence, type }) => [type, sequence, data]),
        [
          [`${name}.updated`, 2, dataOf(attached)],
          [`${name}.updated`, 3, dataOf(after)]
        ]
      )
    })

    it(`of ${kind} respond with 404 for an unknown id or one of another tenant`, async () => {
      const { assets, call, tenant } = await setUp(kind)
      const { assetId } = await assets.createReady()
      const elsewhere = await service.newTenant("stranger")
      const foreign =
        kind === "tenants" ? elsewhere : (await resourceMaker(service, elsewhere, "stranger").make("clients")).id
      const prefix = kind === "tenants" ? "tnt" : "clnt"
      for (const id of [foreign, `${prefix}_${"0".repeat(26)}`, "nonsense", tenant.replace("tnt", "ast")]) {
        assertFailure(await call("PUT", `/${kind}/${id}/media/logo`, { assetId }), 404, notFoundText, id)
        assertFailure(await call("DELETE", `/${kind}/${id}/media/logo`), 404, notFoundText, id)
      }
    })
  }

  it("of a client are deleted with it, and their asset can then be deleted", async () => {
    const { assets, attach, call, path } = await setUp("clients")
    const { assetId } = await assets.createReady()
    await attach("logo", { assetId })
    assert.strictEqual((await call("DELETE", path)).status, 204)
    const { rows } = await sql.query("select 1 from attachments where asset_id = $1", [assetId])
    assert.deepStrictEqual(rows, [])
    assert.strictEqual((await assets.remove(assetId)).status, 204)
  })

  it("of a tenant and of its clients are independent", async () => {
    const { assets, attach, call, path, tenant } = await setUp("clients")
    const [one, other] = [await assets.createReady(), await assets.createReady()]
    await attach("logo", { assetId: one.assetId })
    await call("PUT", `/tenants/${tenant}/media/logo`, { assetId: other.assetId })
    assert.strictEqual((await call("GET", path)).body.data.media[0].assetId, one.assetId)
    assert.strictEqual((await call("DELETE", `${path}/media/logo`)).status, 204)
    assert.strictEqual((await call("GET", `/tenants/${tenant}`)).body.data.media[0].assetId, other.assetId)
  })

  it("of many clients are listed by one statement, with the same JSON as GET /clients/{clientId}", async () => {
    const { assets, attach, call, id, tenant } = await setUp("clients")
    const { assetId } = await assets.createReady()
    await attach("logo", { assetId, order: 3 })
    await attach("other", { assetId })
    await sql.query(
      `insert into clients (tenant_id, id, name, media, created_at, updated_at, sequence)
       select tenant_id, 'clnt_' || lpad(n::text, 26, '0'), name || n, media, created_at, updated_at, 1
       from clients, generate_series(1, 99) n where id = $1`,
      [id]
    )
    const lists: Array<ServiceResponse> = []
    const list = async () => void lists.push(await call("GET", "/clients"))
    await list()
    const statements = await database.during(list)
    assert.lengthOf(
      statements.filter((statement) => /\bpage\.json\b|\bclients\b|attachments|\bassets\b/.test(statement)),
      1,
      statements.join("\n")
    )
    const [{ body, text } = assert.fail()] = lists
    assert.lengthOf(body.data, 100)
    const reads = body.data.map((client: ResourceBody) => call("GET", `/clients/${client.id}`))
    const single = (await Promise.all<ServiceResponse>(reads)).map(dataOf)
    assert.strictEqual(text, `{"data":[${single.join(",")}]}`)
    assert.strictEqual(
      body.data.filter((client: { media: ReadonlyArray<object> }) => client.media.length === 2).length,
      100
    )
    assert.strictEqual((await service.api("GET", `/tenants/${tenant}`, { as: "owner" })).status, 200)
  })
})

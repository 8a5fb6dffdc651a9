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

const shownBy = ({ text }: Pick<ServiceResponse, "text">) => text.slice('{"data":'.length, -1)

describe("images that hang", () => {
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

  /** A tenant, somebody in it to hang images on, and images. */
  const stage = async (kind: Owners) => {
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
    const { assetId } = await assets.uploaded(gif)
    assert.strictEqual((await assets.complete(assetId)).status, 400)
    return assetId
  }

  for (const kind of owners) {
    it(`on ${kind} are attached, replaced and taken down`, async () => {
      const { assets, attach, call, detach, path } = await stage(kind)
      const before: ResourceBody = (await call("GET", path)).body.data
      assert.deepStrictEqual(before["media"], [])
      const [logo, scenery] = [
        await assets.ready(),
        await assets.ready({ kind: "BRANDING_BACKGROUND", access: "SIGNED" }, png())
      ]

      const first = await attach("logo", { assetId: logo.assetId })
      assert.strictEqual(first.status, 200)
      const [item] = first.body.data.media
      assert.match(item.attachmentId, /^att_[0-9a-z]{26}$/)
      const hung = {
        attachmentId: item.attachmentId,
        slot: "logo",
        order: 0,
        assetId: logo.assetId,
        kind: "BRANDING_LOGO",
        status: "READY",
        url: `/api/v1/assets/${logo.assetId}`
      }
      assert.deepStrictEqual(first.body.data, { ...before, media: [hung], updatedAt: first.body.data.updatedAt })
      assert.deepStrictEqual(Object.keys(item), Object.keys(hung))
      assert.isTrue(first.body.data.updatedAt >= String(before["updatedAt"]))
      assert.strictEqual((await call("GET", path)).text, first.text)

      const second = await attach("page-2-background", { assetId: scenery.assetId, order: 7 })
      assert.deepStrictEqual(second.body.data.media[0], hung)
      assert.deepInclude(second.body.data.media[1], {
        slot: "page-2-background",
        order: 7,
        assetId: scenery.assetId,
        kind: "BRANDING_BACKGROUND",
        url: `/api/v1/assets/${scenery.assetId}`
      })

      const replaced = await attach("logo", { assetId: scenery.assetId, order: 9 })
      assert.deepStrictEqual(
        replaced.body.data.media.map(({ assetId, order, slot }: Record<string, unknown>) => [slot, order, assetId]),
        [
          ["page-2-background", 7, scenery.assetId],
          ["logo", 9, scenery.assetId]
        ]
      )
      assert.strictEqual((await call("GET", path)).text, replaced.text)

      assert.strictEqual((await detach("page-2-background")).status, 204)
      assert.lengthOf((await call("GET", path)).body.data.media, 1)
      assertFailure(await detach("page-2-background"), 404, notFoundText)
      assert.strictEqual((await detach("logo")).status, 204)
      assert.deepStrictEqual((await call("GET", path)).body.data.media, [])
    })

    it(`on ${kind} come by order and then by slot, and stay through other changes`, async () => {
      const { assets, attach, call, path } = await stage(kind)
      const { assetId } = await assets.ready()
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

    it(`on ${kind} are READY and of the same tenant`, async () => {
      const { assets, attach, call, path } = await stage(kind)
      const foreign = await assetClient(service, await service.newTenant()).ready()
      const before = (await call("GET", path)).text
      const state = (status: string): ExpectedError => [
        "assetId",
        "state",
        `is ${status}; only a READY asset can be attached`
      ]
      const nothing: ExpectedError = ["assetId", "exists", "names nothing in this tenant"]
      const { assetId: deleted } = await assets.ready()
      await assets.remove(deleted)
      for (const [assetId, fault] of [
        [(await assets.declare()).assetId, state("PENDING")],
        [(await assets.uploaded(png())).assetId, state("PENDING")],
        [await failedAsset(assets), state("FAILED")],
        [foreign.assetId, nothing],
        [`ast_${"0".repeat(26)}`, nothing],
        [deleted, nothing],
        ["nonsense", ["assetId", "format", "must be an asset identifier (ast_…)"]]
      ] as const) {
        assertValidationError(await attach("logo", { assetId }), fault)
      }
      assertValidationError(await attach("logo", { order: 1 }), ["assetId", "required", "is required"])
      assertValidationError(await attach("logo", { assetId: foreign.assetId, slot: "a" }), [
        "slot",
        "unknown",
        "is not a known property"
      ])
      assert.strictEqual((await call("GET", path)).text, before)
    })

    it(`on ${kind} hang in slots with names of their own kind`, async () => {
      const { assets, attach, detach } = await stage(kind)
      const { assetId } = await assets.ready()
      for (const slot of ["a", "a-1", `a${"0".repeat(62)}`]) {
        assert.strictEqual((await attach(slot, { assetId })).status, 200, slot)
        assert.strictEqual((await detach(slot)).status, 204, slot)
      }
      for (const slot of ["1a", "-a", "Logo", "lo_go", "lo%20go", "%C3%A4", `a${"0".repeat(63)}`]) {
        assertFailure(await attach(slot, { assetId }), 404, notFoundText, slot)
        assertFailure(await detach(slot), 404, notFoundText, slot)
      }
    })

    it(`on ${kind} keep their asset from being deleted`, async () => {
      const { assets, attach, detach } = await stage(kind)
      const { assetId } = await assets.ready()
      await attach("logo", { assetId })
      const before = (await assets.record(assetId)).text
      assertValidationError(await assets.remove(assetId), ["id", "inUse", "is still referred to by attachments"])
      assert.strictEqual((await assets.record(assetId)).text, before)
      assert.strictEqual((await service.call("GET", `/api/v1/assets/${assetId}`)).status, 200)
      await detach("logo")
      assert.strictEqual((await assets.remove(assetId)).status, 204)
    })

    it(`on ${kind} hang or their asset is deleted, when both are asked at once`, async () => {
      const { assets, attach, call, path } = await stage(kind)
      for (let round = 0; round < 10; round++) {
        const { assetId } = await assets.ready()
        const [hung, removed] = await Promise.all([attach(`s${round}`, { assetId }), assets.remove(assetId)])
        assert.include(
          [
            [200, 400],
            [400, 204]
          ].map(String),
          String([hung.status, removed.status])
        )
        const slots = (await call("GET", path)).body.data.media.map(({ slot }: { slot: string }) => slot)
        assert.strictEqual(slots.includes(`s${round}`), hung.status === 200)
      }
    })

    it(`on ${kind} all land when many are hung at once`, async () => {
      const { assets, attach, call, path } = await stage(kind)
      const { assetId } = await assets.ready()
      const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => attach(`s${n % 4}`, { assetId, order: n })))
      assert.deepStrictEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
      assert.lengthOf((await call("GET", path)).body.data.media, 4)
    })

    it(`on ${kind} are told of in events, and wait for the named version`, async () => {
      const { assets, attach, call, detach, id, path } = await stage(kind)
      const { assetId } = await assets.ready({ access: "SIGNED" })
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
          [`${name}.updated`, 2, shownBy(attached)],
          [`${name}.updated`, 3, shownBy(after)]
        ]
      )
    })

    it(`hang on nobody who is not among the ${kind}`, async () => {
      const { assets, call, tenant } = await stage(kind)
      const { assetId } = await assets.ready()
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

  it("go with the client they hang on, and leave their asset free", async () => {
    const { assets, attach, call, path } = await stage("clients")
    const { assetId } = await assets.ready()
    await attach("logo", { assetId })
    assert.strictEqual((await call("DELETE", path)).status, 204)
    const { rows } = await sql.query("select 1 from attachments where asset_id = $1", [assetId])
    assert.deepStrictEqual(rows, [])
    assert.strictEqual((await assets.remove(assetId)).status, 204)
  })

  it("on a tenant and on its clients do not get into each other's way", async () => {
    const { assets, attach, call, path, tenant } = await stage("clients")
    const [one, other] = [await assets.ready(), await assets.ready()]
    await attach("logo", { assetId: one.assetId })
    await call("PUT", `/tenants/${tenant}/media/logo`, { assetId: other.assetId })
    assert.strictEqual((await call("GET", path)).body.data.media[0].assetId, one.assetId)
    assert.strictEqual((await call("DELETE", `${path}/media/logo`)).status, 204)
    assert.strictEqual((await call("GET", `/tenants/${tenant}`)).body.data.media[0].assetId, other.assetId)
  })

  it("on a thousand clients are listed by one statement, in the very characters each is shown in alone", async () => {
    const { assets, attach, call, id, tenant } = await stage("clients")
    const { assetId } = await assets.ready()
    await attach("logo", { assetId, order: 3 })
    await attach("other", { assetId })
    // As many again as the one there, with what hangs on it.
    await sql.query(
      `insert into clients (tenant_id, id, name, media, created_at, updated_at, sequence)
       select tenant_id, 'clnt_' || lpad(n::text, 26, '0'), name || n, media, created_at, updated_at, 1
       from clients, generate_series(1, 999) n where id = $1`,
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
    assert.lengthOf(body.data, 1000)
    const alone: Array<string> = []
    for (let at = 0; at < 1000; at += 50) {
      const some = body.data.slice(at, at + 50).map((client: ResourceBody) => call("GET", `/clients/${client.id}`))
      alone.push(...(await Promise.all<ServiceResponse>(some)).map(shownBy))
    }
    assert.strictEqual(text, `{"data":[${alone.join(",")}]}`)
    assert.strictEqual(
      body.data.filter((client: { media: ReadonlyArray<object> }) => client.media.length === 2).length,
      1000
    )
    assert.strictEqual((await service.api("GET", `/tenants/${tenant}`, { as: "owner" })).status, 200)
  })
})

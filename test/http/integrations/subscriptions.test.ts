import { assert, beforeAll, describe, it } from "vitest"
import { assertValidationError, quotaError } from "../../support/assertions/failures.ts"
import { eventsOf } from "../../support/fixtures/integrationRows.ts"
import { integrationClient, minimalNats } from "../../support/fixtures/integrations.ts"
import { readPages } from "../../support/fixtures/pages.ts"
import { resourceMaker } from "../../support/fixtures/resources.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { startServiceWithTenant } from "../../support/servers/serviceWithPool.ts"

const notAnEvent = "must be an event type such as client.created, or client.* for all of them"

describe("subscriptions", () => {
  const at = useFixture(startServiceWithTenant)
  let client: string
  beforeAll(async () => {
    client = (await resourceMaker(at().service, at().tenant).make("clients")).id
  })
  const ours = () => integrationClient(at().service, at().tenant)
  const shownIn = async (id: string) => (await ours().get(id)).body.data.subscriptions
  const rowsOf = async (id: string) => {
    const { rows } = await at().pool.query(
      `select id, event_type as "eventType", scope_key as "scopeKey", client_id as "clientId"
       from subscriptions where integration_id = $1 order by id`,
      [id]
    )
    return rows.map(({ clientId, ...row }) => (clientId === null ? row : { ...row, clientId }))
  }

  it("are to a type or a resource, of the tenant or a client, shown with the integration and kept beside it", async () => {
    const { id } = await ours().made(minimalNats)
    const made = [
      await ours().madeSubscription(id, { eventType: "client.created" }),
      await ours().madeSubscription(id, { eventType: "client.*", scopeKey: "tenant" }),
      await ours().madeSubscription(id, { eventType: "client.*", clientId: client }),
      await ours().madeSubscription(id, { eventType: "invoice.paid", clientId: client, scopeKey: `client:${client}` })
    ]
    assert.deepStrictEqual(
      made.map(({ id: _, ...subscription }) => subscription),
      [
        { eventType: "client.created", scopeKey: "tenant" },
        { eventType: "client.*", scopeKey: "tenant" },
        { eventType: "client.*", scopeKey: `client:${client}`, clientId: client },
        { eventType: "invoice.paid", scopeKey: `client:${client}`, clientId: client }
      ]
    )
    assert.deepStrictEqual(await shownIn(id), made)
    assert.deepStrictEqual(await rowsOf(id), made)
    const pages = await readPages(at().service, `/integrations/${id}/subscriptions?limit=3`, {
      as: "owner",
      tenant: at().tenant
    })
    assert.deepStrictEqual(
      pages.map((page) => page.length),
      [3, 1]
    )
    assert.deepStrictEqual(pages.flat(), made)
  })

  it("are found where the answer says", async () => {
    const { id } = await ours().made(minimalNats)
    const { body, headers, status } = await ours().subscribe(id, { eventType: "asset.ready" })
    assert.strictEqual(status, 201)
    const location = headers.get("location") ?? ""
    assert.strictEqual(location, `/api/v1/integrations/${id}/subscriptions/${body.data.id}`)
    const read = await at().service.call("GET", location, { as: "owner", tenant: at().tenant })
    assert.deepStrictEqual([read.body, read.headers.get("etag")], [body, headers.get("etag")])
    const other = await ours().made(minimalNats)
    const misplaced = await ours().call("GET", `/${other.id}/subscriptions/${body.data.id}`)
    assert.strictEqual(misplaced.status, 404)
    assert.strictEqual((await ours().unsubscribe(other.id, body.data.id)).status, 404)
  })

  it.each(["client", "client.", "*", "*.created", "client.exploded", "Client.created", "issue.moved", ""])(
    "to %j there are none",
    async (eventType) => {
      const { id } = await ours().made(minimalNats)
      assertValidationError(await ours().subscribe(id, { eventType }), ["eventType", "enum", notAnEvent])
    }
  )

  it("name a client of the tenant and the scope that follows from it", async () => {
    const { id } = await ours().made(minimalNats)
    const unknown = `clnt_${"0".repeat(26)}`
    const foreign = await resourceMaker(at().service, await at().service.newTenant()).make("clients")
    for (const clientId of [unknown, foreign.id]) {
      assertValidationError(await ours().subscribe(id, { eventType: "client.*", clientId }), [
        "clientId",
        "exists",
        "names nothing in this tenant"
      ])
    }
    for (const [scopeKey, clientId, scope] of [
      [`client:${client}`, undefined, "tenant"],
      ["tenant", client, `client:${client}`],
      ["nonsense", undefined, "tenant"]
    ]) {
      assertValidationError(await ours().subscribe(id, { eventType: "client.*", scopeKey, clientId }), [
        "scopeKey",
        "enum",
        `must be ${scope}, as clientId says, or be left out`
      ])
    }
    assert.deepStrictEqual([await shownIn(id), await rowsOf(id)], [[], []])
  })

  it("are made once, also when many ask at the same time", async () => {
    const { id } = await ours().made(minimalNats)
    const body = { eventType: "client.created", clientId: client }
    const answers = await Promise.all(Array.from({ length: 8 }, () => ours().subscribe(id, body)))
    const [refused, ...others] = answers.filter(({ status }) => status !== 201)
    assert.lengthOf(others, 6)
    for (const answer of [refused ?? assert.fail("all were made"), ...others]) {
      assertValidationError(answer, ["eventType", "unique", `is subscribed to already for client:${client}`])
    }
    assert.lengthOf(await shownIn(id), 1)
    assert.deepStrictEqual(await rowsOf(id), await shownIn(id))
    assert.lengthOf(await eventsOf(at().pool, id), 2)
  })

  it("are all kept when different ones are made at the same time", async () => {
    const { id } = await ours().made(minimalNats)
    const types = ["client.created", "client.updated", "client.deleted", "client.*", "invoice.*", "asset.*"]
    await Promise.all(types.map((eventType) => ours().madeSubscription(id, { eventType })))
    const shown: ReadonlyArray<{ readonly id: string; readonly eventType: string }> = await shownIn(id)
    assert.sameMembers(
      shown.map(({ eventType }) => eventType),
      types
    )
    assert.sameDeepMembers(await rowsOf(id), [...shown])
    const pages = await readPages(at().service, `/integrations/${id}/subscriptions?limit=2`, {
      as: "owner",
      tenant: at().tenant
    })
    assert.sameDeepMembers(pages.flat(), [...shown])
  })

  it("end, with their integration telling so", async () => {
    const { id } = await ours().made(minimalNats)
    const kept = await ours().madeSubscription(id, { eventType: "client.*" })
    const gone = await ours().madeSubscription(id, { eventType: "invoice.*" })
    assert.strictEqual((await ours().unsubscribe(id, gone.id, { "if-match": '"other"' })).status, 412)
    const twins = await Promise.all([ours().unsubscribe(id, gone.id), ours().unsubscribe(id, gone.id)])
    assert.sameMembers(
      twins.map(({ status }) => status),
      [204, 404]
    )
    assert.deepStrictEqual(await shownIn(id), [kept])
    assert.deepStrictEqual(await rowsOf(id), [kept])
    const events = await eventsOf(at().pool, id)
    assert.deepStrictEqual(
      events.map(({ type }) => type),
      ["integration.created", "integration.updated", "integration.updated", "integration.updated"]
    )
    assert.deepStrictEqual(
      events.map(({ data }) => JSON.parse(data).subscriptions),
      [[], [kept], [kept, gone], [kept]]
    )
  })

  it("keep their client from being deleted", async () => {
    const other = (await resourceMaker(at().service, at().tenant).make("clients")).id
    const { id } = await ours().made(minimalNats)
    const { id: subscription } = await ours().madeSubscription(id, { eventType: "client.*", clientId: other })
    const remove = () => at().service.api("DELETE", `/clients/${other}`, { as: "owner", tenant: at().tenant })
    assertValidationError(await remove(), ["id", "inUse", "is still referred to by subscriptions"])
    await ours().unsubscribe(id, subscription)
    assert.strictEqual((await remove()).status, 204)
  })

  it("are at most 50 by default", async () => {
    const { id } = await ours().made(minimalNats)
    await at().pool.query(
      `update integrations set subscriptions = (
         select json_agg(json_build_object('id', 'sub_' || n, 'eventType', 'client.' || n, 'scopeKey', 'tenant'))
         from generate_series(1, 49) n) where id = $1`,
      [id]
    )
    await ours().madeSubscription(id, { eventType: "client.*" })
    assertValidationError(
      await ours().subscribe(id, { eventType: "invoice.*" }),
      quotaError("subscriptions", 50, "eventType")
    )
  })
})

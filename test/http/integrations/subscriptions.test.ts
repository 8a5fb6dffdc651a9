import { assert, beforeAll, describe, it } from "vitest"
import { assertValidationError, quotaError } from "../../support/assertions/failures.ts"
import { eventsOf } from "../../support/fixtures/integrationRows.ts"
import { integrationClient, minimalNats } from "../../support/fixtures/integrations.ts"
import { readPages } from "../../support/fixtures/pages.ts"
import { resourceMaker } from "../../support/fixtures/resources.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { startServiceWithTenant } from "../../support/servers/serviceWithPool.ts"

const invalidEventType = "must be an event type such as client.created, or client.* for all events of a resource"

describe("Subscriptions of an integration", () => {
  const fixture = useFixture(startServiceWithTenant)
  let client: string
  beforeAll(async () => {
    client = (await resourceMaker(fixture().service, fixture().tenant).make("clients")).id
  })
  const integrations = () => integrationClient(fixture().service, fixture().tenant)
  const readSubscriptions = async (id: string) => (await integrations().get(id)).body.data.subscriptions
  const rowsOf = async (id: string) => {
    const { rows } = await fixture().pool.query(
      `select id, event_type as "eventType", scope_key as "scopeKey", client_id as "clientId"
       from subscriptions where integration_id = $1 order by id`,
      [id]
    )
    return rows.map(({ clientId, ...row }) => (clientId === null ? row : { ...row, clientId }))
  }

  it("select an event type or all of a resource, in the scope of the tenant or of a client", async () => {
    const { id } = await integrations().mustCreate(minimalNats)
    const subscriptions = [
      await integrations().mustSubscribe(id, { eventType: "client.created" }),
      await integrations().mustSubscribe(id, { eventType: "client.*", scopeKey: "tenant" }),
      await integrations().mustSubscribe(id, { eventType: "client.*", clientId: client }),
      await integrations().mustSubscribe(id, {
        eventType: "invoice.paid",
        clientId: client,
        scopeKey: `client:${client}`
      })
    ]
    assert.deepStrictEqual(
      subscriptions.map(({ id: _, ...subscription }) => subscription),
      [
        { eventType: "client.created", scopeKey: "tenant" },
        { eventType: "client.*", scopeKey: "tenant" },
        { eventType: "client.*", scopeKey: `client:${client}`, clientId: client },
        { eventType: "invoice.paid", scopeKey: `client:${client}`, clientId: client }
      ]
    )
    assert.deepStrictEqual(await readSubscriptions(id), subscriptions)
    assert.deepStrictEqual(await rowsOf(id), subscriptions)
    const pages = await readPages(fixture().service, `/integrations/${id}/subscriptions?limit=3`, {
      as: "owner",
      tenant: fixture().tenant
    })
    assert.deepStrictEqual(
      pages.map((page) => page.length),
      [3, 1]
    )
    assert.deepStrictEqual(pages.flat(), subscriptions)
  })

  it("are found at their Location and only under their integration", async () => {
    const { id } = await integrations().mustCreate(minimalNats)
    const { body, headers, status } = await integrations().subscribe(id, { eventType: "asset.ready" })
    assert.strictEqual(status, 201)
    const location = headers.get("location") ?? ""
    assert.strictEqual(location, `/api/v1/integrations/${id}/subscriptions/${body.data.id}`)
    const read = await fixture().service.call("GET", location, { as: "owner", tenant: fixture().tenant })
    assert.deepStrictEqual([read.body, read.headers.get("etag")], [body, headers.get("etag")])
    const other = await integrations().mustCreate(minimalNats)
    const misplaced = await integrations().call("GET", `/${other.id}/subscriptions/${body.data.id}`)
    assert.strictEqual(misplaced.status, 404)
    assert.strictEqual((await integrations().unsubscribe(other.id, body.data.id)).status, 404)
  })

  it.each(["client", "client.", "*", "*.created", "client.exploded", "Client.created", "issue.moved", ""])(
    "reject the event type %j",
    async (eventType) => {
      const { id } = await integrations().mustCreate(minimalNats)
      assertValidationError(await integrations().subscribe(id, { eventType }), ["eventType", "enum", invalidEventType])
    }
  )

  it("reject a client of another tenant and a scopeKey that contradicts clientId", async () => {
    const { id } = await integrations().mustCreate(minimalNats)
    const unknown = `clnt_${"0".repeat(26)}`
    const foreign = await resourceMaker(fixture().service, await fixture().service.newTenant()).make("clients")
    for (const clientId of [unknown, foreign.id]) {
      assertValidationError(await integrations().subscribe(id, { eventType: "client.*", clientId }), [
        "clientId",
        "exists",
        "does not exist in this tenant"
      ])
    }
    for (const [scopeKey, clientId, scope] of [
      [`client:${client}`, undefined, "tenant"],
      ["tenant", client, `client:${client}`],
      ["nonsense", undefined, "tenant"]
    ]) {
      assertValidationError(await integrations().subscribe(id, { eventType: "client.*", scopeKey, clientId }), [
        "scopeKey",
        "enum",
        `must be ${scope} or be omitted`
      ])
    }
    assert.deepStrictEqual([await readSubscriptions(id), await rowsOf(id)], [[], []])
  })

  it("are created once in concurrent requests", async () => {
    const { id } = await integrations().mustCreate(minimalNats)
    const body = { eventType: "client.created", clientId: client }
    const responses = await Promise.all(Array.from({ length: 8 }, () => integrations().subscribe(id, body)))
    const [rejected, ...others] = responses.filter(({ status }) => status !== 201)
    assert.lengthOf(others, 6)
    for (const response of [rejected ?? assert.fail("all requests succeeded"), ...others]) {
      assertValidationError(response, ["eventType", "unique", `is already subscribed for client:${client}`])
    }
    assert.lengthOf(await readSubscriptions(id), 1)
    assert.deepStrictEqual(await rowsOf(id), await readSubscriptions(id))
    assert.lengthOf(await eventsOf(fixture().pool, id), 2)
  })

  it("of different types are all created in concurrent requests", async () => {
    const { id } = await integrations().mustCreate(minimalNats)
    const types = ["client.created", "client.updated", "client.deleted", "client.*", "invoice.*", "asset.*"]
    await Promise.all(types.map((eventType) => integrations().mustSubscribe(id, { eventType })))
    const shown: ReadonlyArray<{ readonly id: string; readonly eventType: string }> = await readSubscriptions(id)
    assert.sameMembers(
      shown.map(({ eventType }) => eventType),
      types
    )
    assert.sameDeepMembers(await rowsOf(id), [...shown])
    const pages = await readPages(fixture().service, `/integrations/${id}/subscriptions?limit=2`, {
      as: "owner",
      tenant: fixture().tenant
    })
    assert.sameDeepMembers(pages.flat(), [...shown])
  })

  it("are deleted once and record integration.updated", async () => {
    const { id } = await integrations().mustCreate(minimalNats)
    const kept = await integrations().mustSubscribe(id, { eventType: "client.*" })
    const deleted = await integrations().mustSubscribe(id, { eventType: "invoice.*" })
    assert.strictEqual((await integrations().unsubscribe(id, deleted.id, { "if-match": '"other"' })).status, 412)
    const responses = await Promise.all([
      integrations().unsubscribe(id, deleted.id),
      integrations().unsubscribe(id, deleted.id)
    ])
    assert.sameMembers(
      responses.map(({ status }) => status),
      [204, 404]
    )
    assert.deepStrictEqual(await readSubscriptions(id), [kept])
    assert.deepStrictEqual(await rowsOf(id), [kept])
    const events = await eventsOf(fixture().pool, id)
    assert.deepStrictEqual(
      events.map(({ type }) => type),
      ["integration.created", "integration.updated", "integration.updated", "integration.updated"]
    )
    assert.deepStrictEqual(
      events.map(({ data }) => JSON.parse(data).subscriptions),
      [[], [kept], [kept, deleted], [kept]]
    )
  })

  it("prevent the deletion of their client", async () => {
    const other = (await resourceMaker(fixture().service, fixture().tenant).make("clients")).id
    const { id } = await integrations().mustCreate(minimalNats)
    const { id: subscription } = await integrations().mustSubscribe(id, { eventType: "client.*", clientId: other })
    const remove = () => fixture().service.api("DELETE", `/clients/${other}`, { as: "owner", tenant: fixture().tenant })
    assertValidationError(await remove(), ["id", "inUse", "is still used by 1 subscription"])
    await integrations().unsubscribe(id, subscription)
    assert.strictEqual((await remove()).status, 204)
  })

  it("are limited to 50 by default", async () => {
    const { id } = await integrations().mustCreate(minimalNats)
    await fixture().pool.query(
      `update integrations set subscriptions = (
         select json_agg(json_build_object('id', 'sub_' || n, 'eventType', 'client.' || n, 'scopeKey', 'tenant'))
         from generate_series(1, 49) n) where id = $1`,
      [id]
    )
    await integrations().mustSubscribe(id, { eventType: "client.*" })
    assertValidationError(
      await integrations().subscribe(id, { eventType: "invoice.*" }),
      quotaError("subscriptions", 50, "eventType")
    )
  })
})

import { assert, describe, it } from "vitest"
import { assertFailure, assertValidationError, notFoundText } from "../../support/assertions/failures.ts"
import { assignFeedPositions, eventsOf } from "../../support/fixtures/integrationRows.ts"
import { readPages } from "../../support/fixtures/pages.ts"
import { resourceMaker } from "../../support/fixtures/resources.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { startServiceWithPool } from "../../support/servers/serviceWithPool.ts"

interface Shown {
  readonly id: string
  readonly type: string
}

describe("the feed of events", () => {
  const at = useFixture(startServiceWithPool)

  const read = (tenant: string, path: string) => at().service.api("GET", `/events${path}`, { as: "owner", tenant })
  const idsOf = (events: ReadonlyArray<Shown>) => events.map(({ id }) => id)
  const typesOf = (events: ReadonlyArray<Shown>) => events.map(({ type }) => type)

  /** A tenant with so many clients, whose events are placed; the tenant's own two come first. */
  const stage = async (clients: number) => {
    const tenant = await at().service.newTenant()
    const { make } = resourceMaker(at().service, tenant)
    const made: Array<string> = []
    for (let n = 0; n < clients; n++) made.push((await make("clients", { name: `Client ${n}` })).id)
    await assignFeedPositions(at().pool, tenant)
    const { rows } = await at().pool.query<{ event_id: string }>(
      "select event_id from event_feed where tenant_id = $1 order by position",
      [tenant]
    )
    return { tenant, make, clients: made, events: rows.map(({ event_id }) => event_id) }
  }

  it("shows what happened, from the first on", async () => {
    const { clients, tenant } = await stage(1)
    const { body, headers, status } = await read(tenant, "")
    assert.strictEqual(status, 200)
    assert.isNull(headers.get("link"))
    assert.deepStrictEqual(typesOf(body.data), ["tenant.created", "member.created", "client.created"])
    const event = body.data[2]
    assert.deepStrictEqual(Object.keys(event), ["id", "type", "timestamp", "tenant", "client", "sequence", "data"])
    const client = await at().service.api("GET", `/clients/${clients[0]}`, { as: "owner", tenant })
    assert.deepStrictEqual(event, {
      id: event.id,
      type: "client.created",
      timestamp: client.body.data.createdAt,
      tenant,
      client: clients[0],
      sequence: 1,
      data: client.body.data
    })
    assert.notProperty(body.data[0], "client")
  })

  it("shows nothing that has no position yet, though it can be read by its identifier", async () => {
    const { make, tenant } = await stage(0)
    const { id } = await make("clients")
    assert.lengthOf((await read(tenant, "")).body.data, 2)
    const [event] = await eventsOf(at().pool, id)
    const one = await read(tenant, `/${event?.id}`)
    assert.strictEqual(one.status, 200)
    assert.deepInclude(one.body.data, { id: event?.id, type: "client.created", sequence: 1 })
    assertValidationError(await read(tenant, `?after=${event?.id}`), [
      "after",
      "exists",
      "names no event of this feed; it may have been purged"
    ])
    await assignFeedPositions(at().pool, tenant)
    assert.deepStrictEqual((await read(tenant, "")).body.data[2], one.body.data)
  })

  it("goes on after any event, in the order of positions and not of identifiers", async () => {
    const { events, tenant } = await stage(4)
    const reversed = events.toReversed()
    await at().pool.query("update event_feed set position = -position where tenant_id = $1", [tenant])
    await at().pool.query(
      "update event_feed set position = position + (select max(-position) + 1 from event_feed) where tenant_id = $1",
      [tenant]
    )
    assert.deepStrictEqual(idsOf((await read(tenant, "")).body.data), reversed)
    for (const [index, id] of reversed.entries()) {
      const { body } = await read(tenant, `?after=${id}`)
      assert.deepStrictEqual(idsOf(body.data), reversed.slice(index + 1))
    }
  })

  it("leads on while there is more, with the same question", async () => {
    const { events, tenant } = await stage(5)
    const pages = await readPages(at().service, "/events?limit=3", { as: "owner", tenant })
    assert.deepStrictEqual(
      pages.map((page) => page.map(({ id }) => id)),
      [events.slice(0, 3), events.slice(3, 6), events.slice(6)]
    )
    const { headers } = await read(tenant, "?type=client.*&limit=2")
    assert.strictEqual(headers.get("link"), `</api/v1/events?after=${events[3]}&type=client.*&limit=2>; rel="next"`)
    const clients = await readPages(at().service, "/events?type=client.*&limit=2", { as: "owner", tenant })
    assert.deepStrictEqual(
      clients.map((page) => page.map(({ id }) => id)),
      [events.slice(2, 4), events.slice(4, 6), events.slice(6)]
    )
  })

  it("shows one type, or one resource, alone", async () => {
    const { clients, make, tenant } = await stage(2)
    await at().service.api("PATCH", `/clients/${clients[0]}`, { as: "owner", tenant, body: { name: "Other" } })
    await make("contacts", { clientId: clients[0] })
    await assignFeedPositions(at().pool, tenant)
    const typed = async (type: string) => typesOf((await read(tenant, `?type=${type}`)).body.data)
    assert.deepStrictEqual(await typed("client.created"), ["client.created", "client.created"])
    assert.deepStrictEqual(await typed("client.*"), ["client.created", "client.created", "client.updated"])
    assert.deepStrictEqual(await typed("contact.*"), ["contact.created"])
    assert.deepStrictEqual(await typed("client.deleted"), [])
    for (const type of ["client", "*", "client.%25", "nothing.created", ""]) {
      assertValidationError(await read(tenant, `?type=${type}`), [
        "type",
        "enum",
        "must be an event type such as client.created, or client.* for all of them"
      ])
    }
  })

  it("shows snapshots in the very characters they are kept in", async () => {
    const { clients, tenant } = await stage(1)
    const [event] = await eventsOf(at().pool, clients[0] ?? "")
    const data = `{"updatedAt" : "2026-01-01T00:00:00.000Z","id":"clnt_a", "name":"\\u00e9 \\/ \\"x\\"", "media":[  ],
      "order": 10, "createdAt":"2026-01-01T00:00:00.000Z"}`
    await at().pool.query("update events set data = $2::json where id = $1", [event?.id, data])
    for (const path of ["", `/${event?.id}`]) {
      const { text } = await read(tenant, path)
      assert.include(text, `"sequence":1,"data":${data}}`)
    }
  })

  it("knows nothing of other tenants", async () => {
    const ours = await stage(1)
    const theirs = await stage(1)
    const foreign = theirs.events[0] ?? ""
    assert.notInclude((await read(ours.tenant, "")).text, theirs.tenant)
    assertValidationError(await read(ours.tenant, `?after=${foreign}`), [
      "after",
      "exists",
      "names no event of this feed; it may have been purged"
    ])
    assertFailure(await read(ours.tenant, `/${foreign}`), 404, notFoundText)
    assertFailure(await read(ours.tenant, "/evt_unknown"), 404, notFoundText)
  })

  it("refuses what is no event and no number", async () => {
    const { tenant } = await stage(0)
    assertValidationError(await read(tenant, "?after=clnt_a"), [
      "after",
      "format",
      "must be an event identifier (evt_…)"
    ])
    assertValidationError(await read(tenant, "?limit=0"), ["limit", "min", "must be at least 1"])
    assertValidationError(await read(tenant, "?limit=201"), ["limit", "max", "must be at most 200"])
  })

  it("spares a reader an event it has", async () => {
    const { events, tenant } = await stage(0)
    const { headers } = await read(tenant, `/${events[0]}`)
    const again = await at().service.api("GET", `/events/${events[0]}`, {
      as: "owner",
      tenant,
      headers: { "if-none-match": headers.get("etag") ?? "" }
    })
    assert.strictEqual(again.status, 304)
  })
})

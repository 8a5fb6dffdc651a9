import { assert, describe, it } from "vitest"
import { assertFailure, assertValidationError, notFoundText } from "../../support/assertions/failures.ts"
import { assignFeedPositions, eventsOf } from "../../support/fixtures/integrationRows.ts"
import { minimalWebhook } from "../../support/fixtures/integrations.ts"
import { invoiceClient } from "../../support/fixtures/invoices.ts"
import { addMember } from "../../support/fixtures/members.ts"
import { readPages } from "../../support/fixtures/pages.ts"
import { resourceMaker } from "../../support/fixtures/resources.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { startServiceWithPool } from "../../support/servers/serviceWithPool.ts"

interface ListedEvent {
  readonly id: string
  readonly type: string
}

describe("GET /events", () => {
  const fixture = useFixture(startServiceWithPool)

  const read = (tenant: string, path: string) => fixture().service.api("GET", `/events${path}`, { as: "owner", tenant })
  const idsOf = (events: ReadonlyArray<ListedEvent>) => events.map(({ id }) => id)
  const typesOf = (events: ReadonlyArray<ListedEvent>) => events.map(({ type }) => type)

  /** Creates a tenant with clients and gives their events feed positions. The first two events are the tenant's own. */
  const createTenantWithClients = async (count: number) => {
    const tenant = await fixture().service.newTenant()
    const { make } = resourceMaker(fixture().service, tenant)
    const clientIds: Array<string> = []
    for (let n = 0; n < count; n++) clientIds.push((await make("clients", { name: `Client ${n}` })).id)
    await assignFeedPositions(fixture().pool, tenant)
    const { rows } = await fixture().pool.query<{ event_id: string }>(
      "select event_id from event_feed where tenant_id = $1 order by position",
      [tenant]
    )
    return { tenant, make, clients: clientIds, events: rows.map(({ event_id }) => event_id) }
  }

  it("lists the events of the tenant from the first one", async () => {
    const { clients, tenant } = await createTenantWithClients(1)
    const { body, headers, status } = await read(tenant, "")
    assert.strictEqual(status, 200)
    assert.isNull(headers.get("link"))
    assert.deepStrictEqual(typesOf(body.data), ["tenant.created", "member.created", "client.created"])
    const event = body.data[2]
    assert.deepStrictEqual(Object.keys(event), [
      "id",
      "type",
      "timestamp",
      "tenant",
      "client",
      "sequence",
      "createdBy",
      "data"
    ])
    const client = await fixture().service.api("GET", `/clients/${clients[0]}`, { as: "owner", tenant })
    assert.deepStrictEqual(event, {
      id: event.id,
      type: "client.created",
      timestamp: client.body.data.createdAt,
      tenant,
      client: clients[0],
      sequence: 1,
      createdBy: "owner",
      data: client.body.data
    })
    assert.notProperty(body.data[0], "client")
  })

  it("names the user that caused each event", async () => {
    const { pool, service } = fixture()
    const tenant = await service.newTenant()
    await addMember(service, tenant, "accountant", "ADMIN")
    const { call, ...invoices } = invoiceClient(service, tenant, "accountant")
    const { id: invoice, line } = await invoices.invoiceIn("DRAFT")
    await invoices.add(invoice, {}, {})
    await invoices.tryAdd(invoice, {})
    await call("PATCH", `/billables/${line}`, { name: "Other" })
    await call("DELETE", `/billables/${line}`)
    await call("PATCH", "/invoice-series", { pattern: "A-{year}-{seq:4}" })
    for (const transition of ["finalize", "pay"]) await invoices.transition(invoice, transition)
    const { id: draft } = await invoices.invoiceIn("DRAFT")
    await call("DELETE", `/invoices/${draft}`)
    const { id: integration } = (await call("POST", "/integrations", minimalWebhook)).body.data
    await call("POST", `/integrations/${integration}/ping`)
    const { rows } = await pool.query<{ type: string; created_by: string }>(
      "select type, created_by from events where tenant_id = $1 order by id",
      [tenant]
    )
    assert.deepStrictEqual(
      rows.filter(({ created_by }) => created_by === "owner").map(({ type }) => type),
      ["tenant.created", "member.created", "member.created"]
    )
    const others = rows.filter(({ created_by }) => created_by === "accountant")
    assert.lengthOf(others, rows.length - 3)
    assert.includeMembers(
      others.map(({ type }) => type),
      [
        "contract.created",
        "billable.created",
        "billable.updated",
        "billable.deleted",
        "invoice_series.updated",
        "invoice.finalized",
        "payment.recorded",
        "invoice.paid",
        "invoice.deleted",
        "integration.created",
        "integration.ping"
      ]
    )
  })

  it("omits an event without a feed position, which GET /events/{eventId} returns", async () => {
    const { make, tenant } = await createTenantWithClients(0)
    const { id } = await make("clients")
    assert.lengthOf((await read(tenant, "")).body.data, 2)
    const [event] = await eventsOf(fixture().pool, id)
    const one = await read(tenant, `/${event?.id}`)
    assert.strictEqual(one.status, 200)
    assert.deepInclude(one.body.data, { id: event?.id, type: "client.created", sequence: 1 })
    assertValidationError(await read(tenant, `?after=${event?.id}`), [
      "after",
      "exists",
      "does not exist in this feed; it may have expired"
    ])
    await assignFeedPositions(fixture().pool, tenant)
    assert.deepStrictEqual((await read(tenant, "")).body.data[2], one.body.data)
  })

  it("continues after any event in the order of feed positions", async () => {
    const { events, tenant } = await createTenantWithClients(4)
    const reversed = events.toReversed()
    await fixture().pool.query("update event_feed set position = -position where tenant_id = $1", [tenant])
    await fixture().pool.query(
      "update event_feed set position = position + (select max(-position) + 1 from event_feed) where tenant_id = $1",
      [tenant]
    )
    assert.deepStrictEqual(idsOf((await read(tenant, "")).body.data), reversed)
    for (const [index, id] of reversed.entries()) {
      const { body } = await read(tenant, `?after=${id}`)
      assert.deepStrictEqual(idsOf(body.data), reversed.slice(index + 1))
    }
  })

  it("links the next page with the same query", async () => {
    const { events, tenant } = await createTenantWithClients(5)
    const pages = await readPages(fixture().service, "/events?limit=3", { as: "owner", tenant })
    assert.deepStrictEqual(
      pages.map((page) => page.map(({ id }) => id)),
      [events.slice(0, 3), events.slice(3, 6), events.slice(6)]
    )
    const { headers } = await read(tenant, "?type=client.*&limit=2")
    assert.strictEqual(headers.get("link"), `</api/v1/events?after=${events[3]}&type=client.*&limit=2>; rel="next"`)
    const clients = await readPages(fixture().service, "/events?type=client.*&limit=2", { as: "owner", tenant })
    assert.deepStrictEqual(
      clients.map((page) => page.map(({ id }) => id)),
      [events.slice(2, 4), events.slice(4, 6), events.slice(6)]
    )
  })

  it("starts at the end and reads backwards with order=desc, also for one resource", async () => {
    const { events, make, tenant } = await createTenantWithClients(4)
    const [newest, ...older] = events.toReversed()
    const end = await read(tenant, "?order=desc&limit=1")
    assert.deepStrictEqual(idsOf(end.body.data), [newest])
    assert.strictEqual(end.headers.get("link"), `</api/v1/events?after=${newest}&order=desc&limit=1>; rel="next"`)
    assert.deepStrictEqual(idsOf((await read(tenant, `?after=${newest}&order=desc`)).body.data), older)
    const clients = await readPages(fixture().service, "/events?type=client.*&order=desc&limit=3", {
      as: "owner",
      tenant
    })
    assert.deepStrictEqual(
      clients.map((page) => page.map(({ id }) => id)),
      [[newest, ...older.slice(0, 2)], older.slice(2, 3)]
    )
    assert.isEmpty((await read(tenant, `?after=${newest}`)).body.data)
    await make("clients", { name: "Next" })
    await assignFeedPositions(fixture().pool, tenant)
    assert.deepStrictEqual(typesOf((await read(tenant, `?after=${newest}`)).body.data), ["client.created"])
    assertValidationError(await read(tenant, "?order=newest"), ["order", "enum", "must be one of asc, desc"])
  })

  it("filters by event type or by resource", async () => {
    const { clients, make, tenant } = await createTenantWithClients(2)
    await fixture().service.api("PATCH", `/clients/${clients[0]}`, { as: "owner", tenant, body: { name: "Other" } })
    await make("contacts", { clientId: clients[0] })
    await assignFeedPositions(fixture().pool, tenant)
    const listTypes = async (type: string) => typesOf((await read(tenant, `?type=${type}`)).body.data)
    assert.deepStrictEqual(await listTypes("client.created"), ["client.created", "client.created"])
    assert.deepStrictEqual(await listTypes("client.*"), ["client.created", "client.created", "client.updated"])
    assert.deepStrictEqual(await listTypes("contact.*"), ["contact.created"])
    assert.deepStrictEqual(await listTypes("client.deleted"), [])
    for (const type of ["client", "*", "client.%25", "nothing.created", ""]) {
      assertValidationError(await read(tenant, `?type=${type}`), [
        "type",
        "enum",
        "must be an event type such as client.created, or client.* for all events of a resource"
      ])
    }
  })

  it("returns snapshots with the exact characters that are stored", async () => {
    const { clients, tenant } = await createTenantWithClients(1)
    const [event] = await eventsOf(fixture().pool, clients[0] ?? "")
    const data = `{"updatedAt" : "2026-01-01T00:00:00.000Z","id":"clnt_a", "name":"\\u00e9 \\/ \\"x\\"", "media":[  ],
      "order": 10, "createdAt":"2026-01-01T00:00:00.000Z"}`
    await fixture().pool.query("update events set data = $2::json where id = $1", [event?.id, data])
    for (const path of ["", `/${event?.id}`]) {
      const { text } = await read(tenant, path)
      assert.include(text, `"sequence":1,"createdBy":"owner","data":${data}}`)
    }
  })

  it("returns no events of other tenants", async () => {
    const own = await createTenantWithClients(1)
    const other = await createTenantWithClients(1)
    const foreign = other.events[0] ?? ""
    assert.notInclude((await read(own.tenant, "")).text, other.tenant)
    assertValidationError(await read(own.tenant, `?after=${foreign}`), [
      "after",
      "exists",
      "does not exist in this feed; it may have expired"
    ])
    assertFailure(await read(own.tenant, `/${foreign}`), 404, notFoundText)
    assertFailure(await read(own.tenant, "/evt_unknown"), 404, notFoundText)
  })

  it("rejects an invalid after or limit", async () => {
    const { tenant } = await createTenantWithClients(0)
    assertValidationError(await read(tenant, "?after=clnt_a"), [
      "after",
      "format",
      "must be an event identifier (evt_…)"
    ])
    assertValidationError(await read(tenant, "?limit=0"), ["limit", "min", "must be at least 1"])
    assertValidationError(await read(tenant, "?limit=201"), ["limit", "max", "must be at most 200"])
  })

  it("responds 304 when If-None-Match names the current version of an event", async () => {
    const { events, tenant } = await createTenantWithClients(0)
    const { headers } = await read(tenant, `/${events[0]}`)
    const response = await fixture().service.api("GET", `/events/${events[0]}`, {
      as: "owner",
      tenant,
      headers: { "if-none-match": headers.get("etag") ?? "" }
    })
    assert.strictEqual(response.status, 304)
  })
})

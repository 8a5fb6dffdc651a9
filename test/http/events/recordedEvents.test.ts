import { assert, describe, it } from "vitest"
import { type ResourceBody, type ResourceKind, resourceMaker } from "../../support/fixtures/resources.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import type { ServiceResponse } from "../../support/servers/service.ts"
import { startServiceWithPool } from "../../support/servers/serviceWithPool.ts"

/** A resource, its name in event types, and a valid change. */
const resources: ReadonlyArray<readonly [kind: ResourceKind, name: string, change: object]> = [
  ["addresses", "address", { address2: "Back door", order: 2 }],
  ["contacts", "contact", { role: "Buyer", order: null }],
  ["emails", "email", { address: "other@example.test" }],
  ["contracts", "contract", { status: "ACTIVE", startsAt: "2026-01-01T00:00:00Z", capMinor: 9007199254740991 }],
  ["projects", "project", { description: '"Quoted" \u2028 \u{1F600}', order: 0 }]
]

const dataTextOf = ({ text }: ServiceResponse) => text.slice('{"data":'.length, -1)

describe("Events", () => {
  const fixture = useFixture(startServiceWithPool)

  const eventsOf = async (resource: string) => {
    const { rows } = await fixture().pool.query(
      `select type, tenant_id, client_id, sequence, data::text as data, xmin::text as transaction
       from events where resource_id = $1 order by sequence`,
      [resource]
    )
    return rows
  }
  const eventsIn = async (tenant: string) => {
    const { rows } = await fixture().pool.query("select * from events where tenant_id = $1 order by id", [tenant])
    return rows
  }
  /** The transaction that wrote the current version of a row. */
  const transactionOf = async (kind: ResourceKind, id: string) => {
    const { rows } = await fixture().pool.query(`select xmin::text as transaction from ${kind} where id = $1`, [id])
    return rows[0]?.transaction
  }

  /** Creates a tenant with a client, and the body of a resource that belongs to the client. */
  const prepareBody = async (kind: ResourceKind) => {
    const tenant = await fixture().service.newTenant()
    const { bodyOf, make } = resourceMaker(fixture().service, tenant)
    const client = (await make("clients")).id
    const parents: Partial<Record<ResourceKind, () => Promise<object>>> = {
      emails: async () => ({ contactId: (await make("contacts", { clientId: client })).id }),
      projects: async () => ({ contractId: (await make("contracts", { clientId: client })).id })
    }
    const call = (method: string, path: string, body?: object, headers: Record<string, string> = {}) =>
      fixture().service.api(method, path, { as: "owner", tenant, headers, ...(body === undefined ? {} : { body }) })
    const body = await bodyOf(kind, (await parents[kind]?.()) ?? { clientId: client })
    return { tenant, client, call, body, make }
  }

  for (const [kind, name, change] of resources) {
    it(`of ${kind} contain the data of the response and the client, written in the same transaction`, async () => {
      const { body, call, client, tenant } = await prepareBody(kind)
      const created = await call("POST", `/${kind}`, body)
      const { id } = created.body.data
      const path = `/${kind}/${id}`
      const transactions = [await transactionOf(kind, id)]
      const changed = await call("PATCH", path, change)
      transactions.push(await transactionOf(kind, id))
      assert.deepStrictEqual([created.status, changed.status], [201, 200])
      assert.strictEqual((await call("DELETE", path)).status, 204)

      const events = await eventsOf(id)
      assert.deepStrictEqual(
        events.map(({ client_id, sequence, tenant_id, type }) => [type, sequence, tenant_id, client_id]),
        ["created", "updated", "deleted"].map((action, n) => [`${name}.${action}`, n + 1, tenant, client])
      )
      assert.deepStrictEqual(
        events.map(({ data }) => data),
        [created, changed, changed].map(dataTextOf)
      )
      assert.deepStrictEqual(
        events.slice(0, 2).map(({ transaction }) => transaction),
        transactions
      )
    })

    it(`of ${kind} are recorded once per Idempotency-Key`, async () => {
      const { body, call } = await prepareBody(kind)
      const headers = { "idempotency-key": "once" }
      const [first] = await Promise.all([1, 2, 3].map(() => call("POST", `/${kind}`, body, headers)))
      assert.lengthOf(await eventsOf(first?.body.data.id), 1)
    })

    it(`of ${kind} are not recorded for a rejected write`, async () => {
      const { body, call, make, tenant } = await prepareBody(kind)
      await call("POST", "/members", { subject: "viewer", role: "VIEWER" })
      const { id } = (await call("POST", `/${kind}`, body)).body.data
      if (kind === "contacts") await make("emails", { contactId: id })
      if (kind === "contracts") await make("projects", { contractId: id })
      const path = `/${kind}/${id}`
      const before = await eventsIn(tenant)

      const [reference] = Object.entries(body).filter(([field]) => /^(client|contact|contract)Id$/.test(field))
      const unknownId = `${String(reference?.[1]).split("_", 1)}_none`
      const stale = { "if-match": '"stale"' }
      const asViewer = { as: "viewer", tenant, body: change }
      const rejected: ReadonlyArray<readonly [number, Promise<ServiceResponse>]> = [
        [400, call("POST", `/${kind}`, { ...body, colour: "red" })],
        [404, call("POST", `/${kind}`, { ...body, [reference?.[0] ?? ""]: unknownId })],
        [400, call("PATCH", path, {})],
        [400, call("PATCH", path, { order: -1 })],
        [412, call("PATCH", path, change, stale)],
        [412, call("DELETE", path, undefined, stale)],
        [404, call("PATCH", `/${kind}/${id.slice(0, -26)}none`, change)],
        [404, call("DELETE", `/${kind}/${id.slice(0, -26)}none`)],
        [403, fixture().service.api("PATCH", path, asViewer)],
        ...(kind === "contacts" ? [[400, call("DELETE", path)] as const] : []),
        ...(kind === "contracts"
          ? [[400, call("DELETE", path)] as const, [400, call("PATCH", path, { status: "ENDED" })] as const]
          : [])
      ]
      for (const [status, response] of rejected)
        assert.strictEqual((await response).status, status, (await response).text)
      assert.deepStrictEqual(await eventsIn(tenant), before)

      assert.strictEqual((await call("PATCH", path, change)).status, 200)
      assert.strictEqual((await eventsOf(id)).at(-1)?.sequence, 2, "the sequence counts only successful writes")
    })
  }

  it("of an address of the tenant have no client", async () => {
    const { call, make } = await prepareBody("addresses")
    const own: ResourceBody = await make("addresses", { clientId: undefined })
    await call("PATCH", `/addresses/${own.id}`, { order: 1 })
    await call("DELETE", `/addresses/${own.id}`)
    const events = await eventsOf(own.id)
    assert.deepStrictEqual(
      events.map(({ client_id, sequence }) => [client_id, sequence]),
      [1, 2, 3].map((sequence) => [null, sequence])
    )
    assert.deepStrictEqual(JSON.parse(events[0]?.data), own)
  })
})

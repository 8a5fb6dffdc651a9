import { afterAll, assert, beforeAll, describe, it } from "vitest"
import {
  assertFailure,
  assertValidationError,
  type ExpectedError,
  notFoundText
} from "../../support/assertions/failures.ts"
import { type JsonSchema, operationsOf } from "../../support/assertions/operations.ts"
import { parents, type ResourceBody, type ResourceKind, resourceMaker } from "../../support/fixtures/resources.ts"
import { type Service, startService } from "../../support/servers/service.ts"

const noText = (field: string): ExpectedError => [field, "type", "must be a string"]

/** What can be taken from each resource, and what a null in the place of the rest is told. */
const fields: Readonly<
  Record<ResourceKind, { readonly optional: object; readonly required: ReadonlyArray<ExpectedError> }>
> = {
  tenants: { optional: { description: "d" }, required: [noText("name")] },
  clients: { optional: { description: "d", order: 0 }, required: [noText("name")] },
  addresses: {
    optional: { address2: "2", region: "r", registrationNumber: "n", vatNumber: "v", order: 1 },
    required: ["name", "address1", "country", "city", "zip"].map(noText)
  },
  contacts: { optional: { role: "r", order: 2 }, required: [noText("name")] },
  emails: { optional: { order: 3 }, required: [noText("address")] },
  contracts: {
    optional: {
      description: "d",
      startsAt: "2026-01-01T00:00:00.000Z",
      endsAt: "2027-01-01T00:00:00.000Z",
      capMinor: 5,
      order: 4
    },
    required: [
      noText("name"),
      ["status", "enum", "must be one of DRAFT, ACTIVE, ENDED"],
      noText("currencyCode"),
      ["paymentTermDays", "type", "must be a number"]
    ]
  },
  projects: { optional: { description: "d", order: 5 }, required: [noText("name")] }
}
const kinds = Object.keys(fields) as ReadonlyArray<ResourceKind>

/** What keeps one from being deleted, by the name it is told under. */
const holders: ReadonlyArray<readonly [kept: ResourceKind, by: ResourceKind]> = [
  ["clients", "addresses"],
  ["clients", "contacts"],
  ["clients", "contracts"],
  ["contacts", "emails"],
  ["contracts", "projects"]
]

/** The field that shows what one belongs to. */
const shownAs = (parent: ResourceKind) => parent.slice(0, -1)

const filters = kinds.flatMap((kind) => {
  const parent = parents[kind]
  return parent === undefined ? [] : [{ kind, field: parent.field, parent: parent.kind }]
})

const badIds: Partial<Record<ResourceKind, string>> = {
  clients: "must be a client identifier (clnt_…)",
  contacts: "must be a contact identifier (con_…)",
  contracts: "must be a contract identifier (ctr_…)"
}

describe("contracting", () => {
  let service: Service
  let tenant: string
  beforeAll(async () => {
    service = await startService()
    tenant = await service.newTenant()
  })
  afterAll(() => service.stop())

  const call = (method: string, path: string, body?: unknown) =>
    service.api(method, path, { as: "owner", tenant, ...(body === undefined ? {} : { body }) })
  const make = (kind: ResourceKind, body: object = {}) => resourceMaker(service, tenant).make(kind, body)
  const idsIn = async (path: string) => {
    const { body, status } = await call("GET", path)
    assert.strictEqual(status, 200)
    return body.data.map(({ id }: ResourceBody) => id)
  }
  const inUse = (by: string): ExpectedError => ["id", "inUse", `is still referred to by ${by}`]

  it("goes from the first client to the last project, and back", async () => {
    const client = await make("clients", { name: "Northwind" })
    const contact = await make("contacts", { clientId: client.id, name: "Purchasing", role: "Buyer" })
    const email = await make("emails", { contactId: contact.id, address: "buy@northwind.test" })
    const theirs = await make("addresses", { clientId: client.id, name: "Northwind Ltd" })
    const own = await make("addresses", { clientId: undefined, name: "Harbour Works" })
    const contract = await make("contracts", { clientId: client.id, name: "Pumps", currencyCode: "NOK" })
    const project = await make("projects", { contractId: contract.id, name: "Station 4" })

    assert.strictEqual(contact["client"], client.id)
    assert.strictEqual(email["contact"], contact.id)
    assert.strictEqual(theirs["client"], client.id)
    assert.notProperty(own, "client")
    assert.strictEqual(contract["client"], client.id)
    assert.strictEqual(project["contract"], contract.id)

    const changes: ReadonlyArray<readonly [ResourceKind, ResourceBody, object]> = [
      ["clients", client, { name: "Northwind AS" }],
      ["contacts", contact, { role: "Head of purchasing" }],
      ["emails", email, { address: "purchasing@northwind.test" }],
      ["addresses", theirs, { city: "Oslo", zip: "0150" }],
      ["addresses", own, { address2: "Back door" }],
      ["contracts", contract, { status: "ACTIVE", capMinor: 500_000 }],
      ["projects", project, { description: "All of it", order: 1 }]
    ]
    for (const [kind, before, change] of changes) {
      const { body, status } = await call("PATCH", `/${kind}/${before.id}`, change)
      assert.strictEqual(status, 200)
      assert.deepStrictEqual(body.data, { ...before, ...change, updatedAt: body.data.updatedAt })
      assert.isTrue(body.data.updatedAt >= String(before["updatedAt"]))
      assert.deepStrictEqual((await call("GET", `/${kind}/${before.id}`)).body, body)
      assert.include(await idsIn(`/${kind}`), before.id)
    }

    const remove = (kind: ResourceKind, { id }: ResourceBody) => call("DELETE", `/${kind}/${id}`)
    const gone = async (kind: ResourceKind, one: ResourceBody) => {
      const removed = await remove(kind, one)
      assert.deepStrictEqual([removed.status, removed.text], [204, ""])
      assertFailure(await call("GET", `/${kind}/${one.id}`), 404, notFoundText)
      assertFailure(await call("PATCH", `/${kind}/${one.id}`, { order: 1 }), 404, notFoundText)
      assertFailure(await remove(kind, one), 404, notFoundText)
      assert.notInclude(await idsIn(`/${kind}`), one.id)
    }
    assertValidationError(await remove("clients", client), inUse("addresses"))
    await gone("addresses", theirs)
    assertValidationError(await remove("clients", client), inUse("contacts"))
    assertValidationError(await remove("contacts", contact), inUse("emails"))
    await gone("emails", email)
    await gone("contacts", contact)
    assertValidationError(await remove("clients", client), inUse("contracts"))
    assertValidationError(await remove("contracts", contract), inUse("projects"))
    await gone("projects", project)
    await gone("contracts", contract)
    await gone("clients", client)
    assert.strictEqual((await call("GET", `/addresses/${own.id}`)).status, 200)
    await gone("addresses", own)
  })

  it.each(holders)("keeps %s that %s refer to", async (kept, by) => {
    const holder = await make(by)
    const id = String(holder[shownAs(kept)])
    const before = await call("GET", `/${kept}/${id}`)
    assertValidationError(await call("DELETE", `/${kept}/${id}`), inUse(by))
    assert.strictEqual((await call("GET", `/${kept}/${id}`)).text, before.text)
    assert.strictEqual((await call("DELETE", `/${by}/${holder.id}`)).status, 204)
    assert.strictEqual((await call("DELETE", `/${kept}/${id}`)).status, 204)
  })

  it.each(holders)("deletes %s or makes %s that refer to it, when both are asked at once", async (kept, by) => {
    const field = parents[by]?.field ?? ""
    for (let round = 0; round < 10; round++) {
      const { id } = await make(kept)
      const body = await resourceMaker(service, tenant).bodyOf(by, { [field]: id })
      const [deleted, made] = await Promise.all([call("DELETE", `/${kept}/${id}`), call("POST", `/${by}`, body)])
      if (deleted.status === 204) assertFailure(made, 404, notFoundText)
      else {
        assertValidationError(deleted, inUse(by))
        assert.strictEqual(made.status, 201)
      }
    }
  })

  for (const kind of kinds) {
    const { optional, required } = fields[kind]

    it(`takes every optional field from ${kind} by null, alone and together`, async () => {
      const full = await make(kind, optional)
      assert.deepInclude(full, optional)
      const path = `/${kind}/${full.id}`
      const without = (given: ResourceBody, ...names: ReadonlyArray<string>) =>
        Object.fromEntries(Object.entries(given).filter(([name]) => !names.includes(name) && name !== "updatedAt"))
      for (const name of Object.keys(optional)) {
        const { body, status } = await call("PATCH", path, { [name]: null })
        assert.strictEqual(status, 200)
        assert.deepStrictEqual(without(body.data), without(full, name))
        assert.deepStrictEqual((await call("GET", path)).body, body)
        assert.strictEqual((await call("PATCH", path, optional)).status, 200)
      }
      const nothing = Object.fromEntries(Object.keys(optional).map((name) => [name, null]))
      for (let times = 0; times < 2; times++) {
        const { body } = await call("PATCH", path, nothing)
        assert.deepStrictEqual(without(body.data), without(full, ...Object.keys(optional)))
      }
    })

    it(`takes no required field from ${kind}, and changes nothing by nothing`, async () => {
      const path = `/${kind}/${(await make(kind, optional)).id}`
      const before = await call("GET", path)
      for (const fault of required)
        assertValidationError(await call("PATCH", path, { ...optional, [fault[0]]: null }), fault)
      assertValidationError(
        await call("PATCH", path, Object.fromEntries(required.map(([name]) => [name, null]))),
        ...required
      )
      assertValidationError(await call("PATCH", path, {}), [
        "body",
        "required",
        "must name at least one field to change"
      ])
      assert.strictEqual((await call("GET", path)).text, before.text)
    })

    it(`knows here of every field of ${kind} that can be changed`, () => {
      const { schemas } = service.document.components as { schemas: Readonly<Record<string, JsonSchema>> }
      const patch = operationsOf(service.document).find(
        ({ method, path }) => method === "PATCH" && path.startsWith(`/api/v1/${kind}/`)
      )
      const { properties = {} } = schemas[patch?.body?.$ref?.split("/").at(-1) ?? ""] ?? {}
      assert.sameMembers(Object.keys(properties), [...Object.keys(optional), ...required.map(([name]) => name)])
    })
  }

  for (const { field, kind, parent } of filters) {
    it(`lists the ${kind} of one of the ${parent} alone`, async () => {
      const [one, other, childless] = await Promise.all([0, 1, 2].map(() => make(parent)))
      const made: Array<string> = []
      for (let order = 5; order > 0; order--) {
        made.unshift((await make(kind, { [field]: one?.id, order })).id)
        await make(kind, { [field]: other?.id, order })
      }
      if (kind === "addresses") await make(kind, { [field]: undefined })
      const path = `/${kind}?${field}=${one?.id}`
      assert.deepStrictEqual(await idsIn(path), made)
      const first = await call("GET", `${path}&limit=3`)
      const next = /<([^>]+)>/.exec(first.headers.get("link") ?? "")?.[1] ?? ""
      const second = await service.call("GET", next, { as: "owner", tenant })
      assert.deepStrictEqual(
        [...first.body.data, ...second.body.data].map(({ id }) => id),
        made
      )
      assert.isNull(second.headers.get("link"))
      assert.deepStrictEqual(await idsIn(`/${kind}?${field}=${childless?.id}`), [])
      assert.includeMembers(await idsIn(`/${kind}?limit=200`), made)
    })

    it(`lists no ${kind} of one of the ${parent} that is not there or is another tenant's`, async () => {
      const elsewhere = resourceMaker(service, await service.newTenant())
      const foreign = String((await elsewhere.make(kind))[shownAs(parent)])
      const unknown = `${foreign.split("_", 1)}_${"0".repeat(26)}`
      for (const id of [foreign, unknown]) assert.deepStrictEqual(await idsIn(`/${kind}?${field}=${id}`), [])
    })

    it(`lists no ${kind} of what cannot be one of the ${parent}`, async () => {
      for (const id of ["", "nonsense", "prj_a", `${parent}_a`, "%00", "clnt_A", "clnt_a'"]) {
        const fault: ExpectedError = [field, "format", badIds[parent] ?? ""]
        assertValidationError(await call("GET", `/${kind}?${field}=${id}`), fault)
      }
      assertValidationError(
        await call("GET", `/${kind}?limit=0&${field}=nonsense`),
        ["limit", "min", "must be at least 1"],
        [field, "format", badIds[parent] ?? ""]
      )
    })
  }
})

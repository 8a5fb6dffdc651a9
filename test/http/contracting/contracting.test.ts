import { afterAll, assert, beforeAll, describe, it } from "vitest"
import {
  assertFailure,
  assertValidationError,
  type ExpectedError,
  notFoundText
} from "../../support/assertions/failures.ts"
import { type JsonSchema, operationsOf } from "../../support/assertions/operations.ts"
import {
  parents,
  type ResourceBody,
  type ResourceKind,
  resourceKinds,
  resourceMaker,
  singularOf
} from "../../support/fixtures/resources.ts"
import { type Service, startService } from "../../support/servers/service.ts"

const notString = (field: string): ExpectedError => [field, "type", "must be a string"]

/** Optional fields of each resource, and the errors of a null in a required field. */
const fields: Readonly<
  Record<
    ResourceKind,
    {
      readonly optional: object
      readonly required: ReadonlyArray<ExpectedError>
      /** Fields with another name in responses, which have tests of their own. */
      readonly renamed?: ReadonlyArray<string>
    }
  >
> = {
  tenants: {
    optional: {
      description: "d",
      bankAccount: { name: "n", iban: "DE89370400440532013000" },
      billingContact: { phone: "1" }
    },
    required: [notString("name"), notString("timeZone")],
    renamed: ["defaultTaxRateIds"]
  },
  clients: { optional: { description: "d", language: "de", order: 0 }, required: [notString("name")] },
  addresses: {
    optional: {
      address2: "2",
      region: "r",
      registrationNumber: "n",
      vatNumber: "v",
      countryCode: "NO",
      taxNumber: "t",
      electronicAddress: { scheme: "EM", value: "e" },
      order: 1
    },
    required: ["name", "address1", "country", "city", "zip"].map(notString)
  },
  contacts: { optional: { role: "r", receivesInvoices: true, order: 2 }, required: [notString("name")] },
  emails: { optional: { order: 3 }, required: [notString("address")] },
  contracts: {
    optional: {
      description: "d",
      startsAt: "2026-01-01T00:00:00.000Z",
      endsAt: "2027-01-01T00:00:00.000Z",
      capMinor: 5,
      order: 4
    },
    required: [
      notString("name"),
      ["status", "enum", "must be one of DRAFT, ACTIVE, ENDED"],
      notString("currencyCode"),
      ["paymentTermDays", "type", "must be a number"]
    ],
    renamed: ["defaultTaxRateIds"]
  },
  projects: { optional: { description: "d", order: 5 }, required: [notString("name")] }
}

/** Resources and the dependents that prevent their deletion. */
const dependents: ReadonlyArray<readonly [kind: ResourceKind, dependent: ResourceKind]> = [
  ["clients", "addresses"],
  ["clients", "contacts"],
  ["clients", "contracts"],
  ["contacts", "emails"],
  ["contracts", "projects"]
]

const filters = resourceKinds.flatMap((kind) => {
  const parent = parents[kind]
  return parent === undefined ? [] : [{ kind, field: parent.field, parent: parent.kind }]
})

const idErrors: Partial<Record<ResourceKind, string>> = {
  clients: "must be a client identifier (clnt_…)",
  contacts: "must be a contact identifier (con_…)",
  contracts: "must be a contract identifier (ctr_…)"
}

describe("Contracting resources", () => {
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
  const inUse = (dependent: ResourceKind, count = 1): ExpectedError => [
    "id",
    "inUse",
    `is still used by ${count === 1 ? `1 ${singularOf(dependent)}` : `${count} ${dependent}`}`
  ]

  it("are created, changed and deleted from the client to the project", async () => {
    const client = await make("clients", { name: "Northwind" })
    const contact = await make("contacts", { clientId: client.id, name: "Purchasing", role: "Buyer" })
    const email = await make("emails", { contactId: contact.id, address: "buy@northwind.test" })
    const clientAddress = await make("addresses", { clientId: client.id, name: "Northwind Ltd" })
    const ownAddress = await make("addresses", { clientId: undefined, name: "Harbour Works" })
    const contract = await make("contracts", { clientId: client.id, name: "Pumps", currencyCode: "NOK" })
    const project = await make("projects", { contractId: contract.id, name: "Station 4" })

    assert.strictEqual(contact["client"], client.id)
    assert.strictEqual(email["contact"], contact.id)
    assert.strictEqual(clientAddress["client"], client.id)
    assert.notProperty(ownAddress, "client")
    assert.strictEqual(contract["client"], client.id)
    assert.strictEqual(project["contract"], contract.id)

    const changes: ReadonlyArray<readonly [ResourceKind, ResourceBody, object]> = [
      ["clients", client, { name: "Northwind AS" }],
      ["contacts", contact, { role: "Head of purchasing" }],
      ["emails", email, { address: "purchasing@northwind.test" }],
      ["addresses", clientAddress, { city: "Oslo", zip: "0150" }],
      ["addresses", ownAddress, { address2: "Back door" }],
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
    const assertDeletes = async (kind: ResourceKind, resource: ResourceBody) => {
      const removed = await remove(kind, resource)
      assert.deepStrictEqual([removed.status, removed.text], [204, ""])
      assertFailure(await call("GET", `/${kind}/${resource.id}`), 404, notFoundText)
      assertFailure(await call("PATCH", `/${kind}/${resource.id}`, { order: 1 }), 404, notFoundText)
      assertFailure(await remove(kind, resource), 404, notFoundText)
      assert.notInclude(await idsIn(`/${kind}`), resource.id)
    }
    assertValidationError(await remove("clients", client), inUse("addresses"))
    await assertDeletes("addresses", clientAddress)
    assertValidationError(await remove("clients", client), inUse("contacts"))
    assertValidationError(await remove("contacts", contact), inUse("emails"))
    await assertDeletes("emails", email)
    await assertDeletes("contacts", contact)
    assertValidationError(await remove("clients", client), inUse("contracts"))
    assertValidationError(await remove("contracts", contract), inUse("projects"))
    await assertDeletes("projects", project)
    await assertDeletes("contracts", contract)
    await assertDeletes("clients", client)
    assert.strictEqual((await call("GET", `/addresses/${ownAddress.id}`)).status, 200)
    await assertDeletes("addresses", ownAddress)
  })

  it.each(dependents)("reject the deletion of %s that have %s", async (kind, dependent) => {
    const child = await make(dependent)
    const id = String(child[singularOf(kind)])
    const before = await call("GET", `/${kind}/${id}`)
    assertValidationError(await call("DELETE", `/${kind}/${id}`), inUse(dependent))
    assert.strictEqual((await call("GET", `/${kind}/${id}`)).text, before.text)
    assert.strictEqual((await call("DELETE", `/${dependent}/${child.id}`)).status, 204)
    assert.strictEqual((await call("DELETE", `/${kind}/${id}`)).status, 204)
  })

  it.each(dependents)(
    "either delete %s or create %s of them when both are requested at once",
    async (kind, dependent) => {
      const field = parents[dependent]?.field ?? ""
      for (let round = 0; round < 5; round++) {
        const { id } = await make(kind)
        const body = await resourceMaker(service, tenant).bodyOf(dependent, { [field]: id })
        const [deleted, expectedIds] = await Promise.all([
          call("DELETE", `/${kind}/${id}`),
          call("POST", `/${dependent}`, body)
        ])
        if (deleted.status === 204) assertFailure(expectedIds, 404, notFoundText)
        else {
          assertValidationError(deleted, inUse(dependent))
          assert.strictEqual(expectedIds.status, 201)
        }
      }
    }
  )

  for (const kind of resourceKinds) {
    const { optional, renamed = [], required } = fields[kind]

    it(`of kind ${kind} remove optional fields by null, one by one and all at once`, async () => {
      const created = await make(kind, optional)
      assert.deepInclude(created, optional)
      const path = `/${kind}/${created.id}`
      const without = (given: ResourceBody, ...names: ReadonlyArray<string>) =>
        Object.fromEntries(Object.entries(given).filter(([name]) => !names.includes(name) && name !== "updatedAt"))
      for (const name of Object.keys(optional)) {
        const { body, status } = await call("PATCH", path, { [name]: null })
        assert.strictEqual(status, 200)
        assert.deepStrictEqual(without(body.data), without(created, name))
        assert.deepStrictEqual((await call("GET", path)).body, body)
        assert.strictEqual((await call("PATCH", path, optional)).status, 200)
      }
      const cleared = Object.fromEntries(Object.keys(optional).map((name) => [name, null]))
      for (let n = 0; n < 2; n++) {
        const { body } = await call("PATCH", path, cleared)
        assert.deepStrictEqual(without(body.data), without(created, ...Object.keys(optional)))
      }
    })

    it(`of kind ${kind} reject null in required fields and an empty change`, async () => {
      const path = `/${kind}/${(await make(kind, optional)).id}`
      const before = await call("GET", path)
      for (const error of required)
        assertValidationError(await call("PATCH", path, { ...optional, [error[0]]: null }), error)
      assertValidationError(
        await call("PATCH", path, Object.fromEntries(required.map(([name]) => [name, null]))),
        ...required
      )
      assertValidationError(await call("PATCH", path, {}), [
        "body",
        "required",
        "must contain at least one field to change"
      ])
      assert.strictEqual((await call("GET", path)).text, before.text)
    })

    it(`of kind ${kind} have no other fields that can be changed`, () => {
      const { schemas } = service.document.components as { schemas: Readonly<Record<string, JsonSchema>> }
      const patch = operationsOf(service.document).find(
        ({ method, path }) => method === "PATCH" && path.startsWith(`/api/v1/${kind}/`)
      )
      const { properties = {} } = schemas[patch?.body?.$ref?.split("/").at(-1) ?? ""] ?? {}
      assert.sameMembers(Object.keys(properties), [
        ...Object.keys(optional),
        ...required.map(([name]) => name),
        ...renamed
      ])
    })
  }

  for (const { field, kind, parent } of filters) {
    it(`of kind ${kind} are listed by ${field}`, async () => {
      const [parentOne, parentTwo, childless] = await Promise.all([0, 1, 2].map(() => make(parent)))
      const expectedIds: Array<string> = []
      for (let order = 5; order > 0; order--) {
        expectedIds.unshift((await make(kind, { [field]: parentOne?.id, order })).id)
        await make(kind, { [field]: parentTwo?.id, order })
      }
      if (kind === "addresses") await make(kind, { [field]: undefined })
      const path = `/${kind}?${field}=${parentOne?.id}`
      assert.deepStrictEqual(await idsIn(path), expectedIds)
      const first = await call("GET", `${path}&limit=3`)
      const next = /<([^>]+)>/.exec(first.headers.get("link") ?? "")?.[1] ?? ""
      const second = await service.call("GET", next, { as: "owner", tenant })
      assert.deepStrictEqual(
        [...first.body.data, ...second.body.data].map(({ id }) => id),
        expectedIds
      )
      assert.isNull(second.headers.get("link"))
      assert.deepStrictEqual(await idsIn(`/${kind}?${field}=${childless?.id}`), [])
      assert.includeMembers(await idsIn(`/${kind}?limit=200`), expectedIds)
    })

    it(`of kind ${kind} are an empty list for a ${field} that is unknown or of another tenant`, async () => {
      const otherTenant = resourceMaker(service, await service.newTenant())
      const foreign = String((await otherTenant.make(kind))[singularOf(parent)])
      const unknown = `${foreign.split("_", 1)}_${"0".repeat(26)}`
      for (const id of [foreign, unknown]) assert.deepStrictEqual(await idsIn(`/${kind}?${field}=${id}`), [])
    })

    it(`of kind ${kind} reject an invalid ${field}`, async () => {
      for (const id of ["", "nonsense", "prj_a", `${parent}_a`, "%00", "clnt_A", "clnt_a'"]) {
        const error: ExpectedError = [field, "format", idErrors[parent] ?? ""]
        assertValidationError(await call("GET", `/${kind}?${field}=${id}`), error)
      }
      assertValidationError(
        await call("GET", `/${kind}?limit=0&${field}=nonsense`),
        ["limit", "min", "must be at least 1"],
        [field, "format", idErrors[parent] ?? ""]
      )
    })
  }
})

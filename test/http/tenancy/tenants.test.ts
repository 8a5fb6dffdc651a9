import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { addressOf, operationsOf } from "../../support/assertions/operations.ts"
import { readPages } from "../../support/fixtures/pages.ts"
import { type Service, type ServiceResponse, startService } from "../../support/servers/service.ts"

const forbidden = { status: 403, text: `{"error":"Forbidden","message":"Forbidden"}` }
const notFound = { status: 404, text: `{"error":"NotFound","message":"Not Found"}` }
const unknown = `tnt_${"0".repeat(26)}`

const statusAndText = ({ status, text }: ServiceResponse) => ({ status, text })

describe("Tenants", () => {
  let service: Service
  beforeAll(async () => {
    service = await startService({})
  })
  afterAll(() => service.stop())

  const statusOf = async (...request: Parameters<Service["api"]>) => (await service.api(...request)).status
  const addMember = async (tenant: string, subject: string, role: string) => {
    const response = await service.api("POST", "/members", { as: "owner", tenant, body: { subject, role } })
    assert.strictEqual(response.status, 201)
  }

  it("are created, read, changed and listed", async () => {
    const body = { name: "Ünïcode & Söhne", description: "Pumps" }
    const created = await service.api("POST", "/tenants", { as: "anna", body })
    assert.strictEqual(created.status, 201)
    const { id } = created.body.data
    assert.match(id, /^tnt_[0-9a-z]{26}$/)
    assert.strictEqual(created.headers.get("location"), `/api/v1/tenants/${id}`)
    assert.deepInclude(created.body.data, { ...body, media: [] })
    assert.deepStrictEqual((await service.api("GET", `/tenants/${id}`, { as: "anna" })).body, created.body)

    const change = { name: "Söhne", description: null }
    const changed = await service.api("PATCH", `/tenants/${id}`, { as: "anna", body: change })
    assert.strictEqual(changed.status, 200)
    assert.deepInclude(changed.body.data, { id, name: "Söhne", createdAt: created.body.data.createdAt })
    assert.notProperty(changed.body.data, "description")

    const listed = await service.api("GET", "/tenants", { as: "anna" })
    assert.deepStrictEqual(listed.body.data, [changed.body.data])
  })

  it("have their creator as OWNER and only member", async () => {
    const tenant = await service.newTenant("bert")
    const { body } = await service.api("GET", "/members", { as: "bert", tenant })
    assert.lengthOf(body.data, 1)
    assert.deepInclude(body.data[0], { subject: "bert", role: "OWNER" })
  })

  it("can be created by any user, with any tenant-id header", async () => {
    const tenant = await service.newTenant()
    for (const named of [tenant, unknown, "nonsense"]) {
      assert.strictEqual(
        await statusOf("POST", "/tenants", { as: "newcomer", tenant: named, body: { name: "N" } }),
        201
      )
    }
  })

  const invalidBodies: Readonly<Record<string, [body: object, field: string, constraint: string]>> = {
    "no name": [{}, "name", "required"],
    "an empty name": [{ name: "" }, "name", "minLength"],
    "a long name": [{ name: "n".repeat(201) }, "name", "maxLength"],
    "a long description": [{ name: "n", description: "d".repeat(1025) }, "description", "maxLength"],
    "an unknown property": [{ name: "n", plan: "gold" }, "plan", "unknown"],
    "NUL in a name": [{ name: "a\u0000b" }, "name", "pattern"]
  }
  for (const [what, [body, field, constraint]] of Object.entries(invalidBodies)) {
    it(`cannot be created with ${what}`, async () => {
      const response = await service.api("POST", "/tenants", { as: "anna", body })
      assert.strictEqual(response.status, 400)
      assert.lengthOf(response.body.details, 1)
      assert.deepInclude(response.body.details[0], { field, constraint })
    })
  }

  it("are listed only for their members, in pages and in order", async () => {
    const ids: Array<string> = []
    for (let n = 0; n < 7; n++) ids.push(await service.newTenant("carl"))
    const shared = await service.newTenant("owner")
    await addMember(shared, "carl", "VIEWER")
    await service.newTenant("someone")
    for (const limit of [1, 3, 4, 8, 200]) {
      const pages = await readPages(service, `/tenants?limit=${limit}`, { as: "carl" })
      assert.deepStrictEqual(
        pages.flat().map(({ id }) => id),
        [...ids, shared]
      )
      assert.lengthOf(pages, Math.ceil(8 / limit))
    }
    assert.deepStrictEqual((await service.api("GET", "/tenants", { as: "nobody" })).body, { data: [] })
  })

  it("respond with the same 404 to a non-member as for an unknown id", async () => {
    const tenant = await service.newTenant()
    const body = { name: "Taken over" }
    for (const id of [tenant, unknown, "tnt_", "nonsense", "%00"]) {
      assert.deepStrictEqual(statusAndText(await service.api("GET", `/tenants/${id}`, { as: "non-member" })), notFound)
      assert.deepStrictEqual(
        statusAndText(await service.api("PATCH", `/tenants/${id}`, { as: "non-member", body })),
        notFound
      )
      assert.deepStrictEqual(
        statusAndText(await service.api("DELETE", `/tenants/${id}`, { as: "non-member" })),
        notFound
      )
    }
    const { body: unchanged } = await service.api("GET", `/tenants/${tenant}`, { as: "owner" })
    assert.strictEqual(unchanged.data.name, "Tenant")
  })

  it("respond with 404 for variations of their path", async () => {
    const tenant = await service.newTenant()
    for (const suffix of ["/", ";x", "%3Bx", "%20", "."]) {
      const response = await service.api("GET", `/tenants/${tenant}${suffix}`, { as: "owner" })
      assert.deepStrictEqual(statusAndText(response), notFound, suffix)
    }
  })

  it("can be changed by an ADMIN but not by a MEMBER, and deleted by neither", async () => {
    const tenant = await service.newTenant()
    const body = { name: "Renamed" }
    for (const role of ["VIEWER", "MEMBER", "ADMIN"]) {
      await addMember(tenant, role, role)
      const patched = await service.api("PATCH", `/tenants/${tenant}`, { as: role, body })
      if (role === "ADMIN") assert.strictEqual(patched.status, 200)
      else assert.deepStrictEqual(statusAndText(patched), forbidden)
      assert.deepStrictEqual(statusAndText(await service.api("DELETE", `/tenants/${tenant}`, { as: role })), notFound)
    }
    assert.strictEqual(await statusOf("GET", `/tenants/${tenant}`, { as: "VIEWER" }), 200)
  })

  it("respond with 403 or 404 to all former members once they are deleted", async () => {
    const tenant = await service.newTenant()
    await addMember(tenant, "VIEWER", "VIEWER")
    const client = await service.api("POST", "/clients", { as: "owner", tenant, body: { name: "C" } })
    const { body: members } = await service.api("GET", "/members", { as: "owner", tenant })

    const deleted = await service.api("DELETE", `/tenants/${tenant}`, { as: "owner" })
    assert.deepStrictEqual(statusAndText(deleted), { status: 204, text: "" })

    const ids: Readonly<Record<string, string>> = {
      tenantId: tenant,
      clientId: client.body.data.id,
      memberId: members.data[0].id
    }
    for (const as of ["owner", "VIEWER"]) {
      for (const operation of operationsOf(service.document).filter((each) => each.tenant !== "none")) {
        const address = addressOf(operation, (name) => ids[name] ?? name)
        const body = operation.body === undefined ? {} : { body: {} }
        const response = await service.call(operation.method, address, { as, tenant, ...body })
        assert.deepStrictEqual(
          statusAndText(response),
          operation.tenant === "path" ? notFound : forbidden,
          operation.name
        )
      }
      const { body } = await service.api("GET", "/tenants?limit=200", { as })
      assert.notInclude(
        body.data.map(({ id }: { id: string }) => id),
        tenant
      )
    }
    assert.deepStrictEqual(statusAndText(await service.api("DELETE", `/tenants/${tenant}`, { as: "owner" })), notFound)
  })
})

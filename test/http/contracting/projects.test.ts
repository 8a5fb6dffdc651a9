import { afterAll, assert, beforeAll, describe, it } from "vitest"
import {
  assertFailure,
  assertValidationError,
  type ExpectedError,
  notFoundText,
  unauthorizedText
} from "../../support/assertions/failures.ts"
import { type ResourceBody, resourceMaker } from "../../support/fixtures/resources.ts"
import { type CallOptions, type Service, startService } from "../../support/servers/service.ts"
import { openLoggedDatabase } from "../../support/servers/statementLog.ts"

const unknown = `prj_${"0".repeat(26)}`
const expandError: ExpectedError = ["expand", "enum", "must be a comma-separated list of contract, contract.client"]

/** Values of `expand` and the deepest relation of each. */
const expansions: Readonly<Record<string, "contract" | "client">> = {
  contract: "contract",
  "contract.client": "client",
  "contract,contract.client": "client",
  "contract.client,contract": "client",
  "contract,contract": "contract",
  "contract.client,contract.client": "client",
  "contract,%20contract.client": "client",
  "contract%2Ccontract.client": "client"
}

describe("Projects", () => {
  let service: Service
  let database: Awaited<ReturnType<typeof openLoggedDatabase>>
  beforeAll(async () => {
    database = await openLoggedDatabase()
    service = await startService({ DATABASE_URL: database.url })
  })
  afterAll(async () => {
    await service.stop()
    await database.drop()
  })

  const get = (id: string, options: CallOptions = {}, query = "") =>
    service.api("GET", `/projects/${id}${query}`, { as: "owner", ...options })

  /** A project, contract and client with every optional field. */
  const makeProject = async () => {
    const tenant = await service.newTenant()
    const { make } = resourceMaker(service, tenant)
    const client = await make("clients", { description: "Pumps and valves", order: 7 })
    const contract = await make("contracts", {
      clientId: client.id,
      description: "Framework",
      status: "ACTIVE",
      startsAt: "2026-01-01T00:00:00Z",
      endsAt: "2027-01-01T00:00:00Z",
      paymentTermDays: 14,
      capMinor: 9007199254740991,
      order: 8
    })
    const project = await make("projects", { contractId: contract.id, description: "Station 4", order: 9 })
    return { tenant, client, contract, project, make }
  }

  describe("without a tenant-id header", () => {
    it("can be read by members of any role", async () => {
      const { project, tenant } = await makeProject()
      assert.deepStrictEqual((await get(project.id)).body, { data: project })
      for (const role of ["VIEWER", "MEMBER", "ADMIN", "OWNER"]) {
        const body = { subject: role, role }
        assert.strictEqual((await service.api("POST", "/members", { as: "owner", tenant, body })).status, 201)
        const { body: response, status } = await get(project.id, { as: role })
        assert.deepStrictEqual([status, response], [200, { data: project }])
      }
    })

    it("respond with the same 404 to a non-member as for an unknown id", async () => {
      const { project } = await makeProject()
      for (const query of ["", "?expand=contract", "?expand=contract.client"]) {
        const foreign = await get(project.id, { as: "non-member" }, query)
        assertFailure(foreign, 404, notFoundText)
        for (const id of [unknown, "prj_", "nonsense", `${project.id}x`]) {
          assertFailure(await get(id, { as: "non-member" }, query), 404, notFoundText)
          assertFailure(await get(id, {}, query), 404, notFoundText)
        }
      }
      assertValidationError(await get(project.id, { as: "non-member" }, "?expand=x"), expandError)
      assertValidationError(await get(unknown, { as: "non-member" }, "?expand=x"), expandError)
    })

    it("cannot be read once a member is removed", async () => {
      const { project, tenant } = await makeProject()
      const body = { subject: "former-member", role: "ADMIN" }
      const member = await service.api("POST", "/members", { as: "owner", tenant, body })
      assert.strictEqual((await get(project.id, { as: "former-member" })).status, 200)
      await service.api("DELETE", `/members/${member.body.data.id}`, { as: "owner", tenant })
      assertFailure(await get(project.id, { as: "former-member" }), 404, notFoundText)
    })

    it("respond with 401 without a token, before any other check", async () => {
      const { project, tenant } = await makeProject()
      for (const id of [project.id, unknown, "nonsense"]) {
        for (const query of ["", "?expand=contract", "?expand=x"]) {
          assertFailure(await service.api("GET", `/projects/${id}${query}`), 401, unauthorizedText)
          assertFailure(await service.api("GET", `/projects/${id}${query}`, { tenant }), 401, unauthorizedText)
        }
      }
    })

    it("respond with 404 once their tenant is deleted", async () => {
      const { project, tenant } = await makeProject()
      assert.strictEqual((await service.api("DELETE", `/tenants/${tenant}`, { as: "owner" })).status, 204)
      for (const query of ["", "?expand=contract.client"]) {
        assertFailure(await get(project.id, {}, query), 404, notFoundText)
      }
    })

    it("are the same for any tenant-id header", async () => {
      const { project } = await makeProject()
      for (const tenant of [await service.newTenant(), await service.newTenant("another"), "nonsense"]) {
        assert.deepStrictEqual((await get(project.id, { tenant })).body, { data: project })
      }
    })

    it("cannot be changed or deleted", async () => {
      const { project, tenant } = await makeProject()
      const missing: ExpectedError = [
        "tenant-id",
        "required",
        "is required: send the identifier of the tenant in this header"
      ]
      const body = { name: "Renamed" }
      assertValidationError(await service.api("PATCH", `/projects/${project.id}`, { as: "owner", body }), missing)
      assertValidationError(await service.api("DELETE", `/projects/${project.id}`, { as: "owner" }), missing)
      assert.deepStrictEqual((await get(project.id)).body, { data: project })
      const changed = await service.api("PATCH", `/projects/${project.id}`, { as: "owner", tenant, body })
      assert.strictEqual(changed.body.data.name, "Renamed")
    })
  })

  describe("with expand", () => {
    it("include their contract and client as GET returns them", async () => {
      const { client, contract, project, tenant } = await makeProject()
      const read = async (path: string) => (await service.api("GET", path, { as: "owner", tenant })).body.data
      assert.deepStrictEqual(await read(`/contracts/${contract.id}`), contract)
      assert.deepStrictEqual(await read(`/clients/${client.id}`), client)
      const expanded = {
        contract: { ...project, contract },
        client: { ...project, contract: { ...contract, client } }
      }
      for (const [expand, depth] of Object.entries(expansions)) {
        const { body, status } = await get(project.id, {}, `?expand=${expand}`)
        assert.strictEqual(status, 200, expand)
        assert.deepStrictEqual(body.data, expanded[depth], expand)
        assert.deepStrictEqual(Object.keys(body.data.contract), Object.keys(contract), expand)
      }
    })

    it("omit the unset fields of their contract and client", async () => {
      const { make } = resourceMaker(service, await service.newTenant())
      const client = await make("clients")
      const contract = await make("contracts", { clientId: client.id })
      const project = await make("projects", { contractId: contract.id })
      const { body } = await get(project.id, {}, "?expand=contract.client")
      assert.deepStrictEqual(body.data, { ...project, contract: { ...contract, client } })
    })

    const invalid = [
      "",
      ",",
      "client",
      "Contract",
      "contract.",
      "contract.client.media",
      "contract;contract.client",
      "*"
    ]
    const partlyInvalid = [
      "contract,",
      ",contract",
      "contract,client",
      "x,contract.client",
      "contract,contract.client,id"
    ]
    it.each([...invalid, ...partlyInvalid, "__proto__", "%00"])("reject %j", async (expand) => {
      const { project } = await makeProject()
      assertValidationError(await get(project.id, {}, `?expand=${expand}`), expandError)
    })

    it("have an own ETag that changes with an expanded relation", async () => {
      const { client, contract, project, tenant } = await makeProject()
      const etagOf = async (query: string) => (await get(project.id, {}, query)).headers.get("etag") ?? ""
      const queries = ["", "?expand=contract", "?expand=contract.client"]
      const before = await Promise.all(queries.map(etagOf))
      assert.strictEqual(new Set(before).size, 3)
      const rename = (path: string) => service.api("PATCH", path, { as: "owner", tenant, body: { name: "Renamed" } })
      await rename(`/clients/${client.id}`)
      const renamedClient = await Promise.all(queries.map(etagOf))
      await rename(`/contracts/${contract.id}`)
      const renamedContract = await Promise.all(queries.map(etagOf))
      const changed = (from: ReadonlyArray<string>, to: ReadonlyArray<string>) => to.map((etag, n) => etag !== from[n])
      assert.deepStrictEqual(changed(before, renamedClient), [false, false, true])
      assert.deepStrictEqual(changed(renamedClient, renamedContract), [false, true, true])
    })

    it("are read by one statement", async () => {
      const { project } = await makeProject()
      for (const query of ["", ...Object.keys(expansions).map((expand) => `?expand=${expand}`)]) {
        const statements = await database.during(() => get(project.id, {}, query))
        assert.lengthOf(statements, 1, query)
        assert.match(statements[0] ?? "", /execute/)
      }
    })
  })

  it("are listed without expanded relations", async () => {
    const { project, tenant } = await makeProject()
    const listed = await service.api("GET", "/projects", { as: "owner", tenant })
    const projects: ReadonlyArray<ResourceBody> = listed.body.data
    assert.deepStrictEqual(projects, [project])
  })
})

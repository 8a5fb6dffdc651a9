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
const badExpand: ExpectedError = ["expand", "enum", "must be a comma-separated list of contract, contract.client"]

/** Every way to ask for relations, and how far each one goes. */
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

describe("projects", () => {
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

  /** A project with all its relations, every optional field of theirs set. */
  const stage = async () => {
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

  describe("without a tenant-id", () => {
    it("are found by members of their tenant, whatever their role", async () => {
      const { project, tenant } = await stage()
      assert.deepStrictEqual((await get(project.id)).body, { data: project })
      for (const role of ["VIEWER", "MEMBER", "ADMIN", "OWNER"]) {
        const body = { subject: role, role }
        assert.strictEqual((await service.api("POST", "/members", { as: "owner", tenant, body })).status, 201)
        const { body: shown, status } = await get(project.id, { as: role })
        assert.deepStrictEqual([status, shown], [200, { data: project }])
      }
    })

    it("are as little there for outsiders as those that are not there at all", async () => {
      const { project } = await stage()
      for (const query of ["", "?expand=contract", "?expand=contract.client"]) {
        const foreign = await get(project.id, { as: "outsider" }, query)
        assertFailure(foreign, 404, notFoundText)
        for (const id of [unknown, "prj_", "nonsense", `${project.id}x`]) {
          assertFailure(await get(id, { as: "outsider" }, query), 404, notFoundText)
          assertFailure(await get(id, {}, query), 404, notFoundText)
        }
      }
      assertValidationError(await get(project.id, { as: "outsider" }, "?expand=x"), badExpand)
      assertValidationError(await get(unknown, { as: "outsider" }, "?expand=x"), badExpand)
    })

    it("are out of sight from the moment a member is removed", async () => {
      const { project, tenant } = await stage()
      const body = { subject: "leaver", role: "ADMIN" }
      const member = await service.api("POST", "/members", { as: "owner", tenant, body })
      assert.strictEqual((await get(project.id, { as: "leaver" })).status, 200)
      await service.api("DELETE", `/members/${member.body.data.id}`, { as: "owner", tenant })
      assertFailure(await get(project.id, { as: "leaver" }), 404, notFoundText)
    })

    it("are kept from who has no token, before anything else is looked at", async () => {
      const { project, tenant } = await stage()
      for (const id of [project.id, unknown, "nonsense"]) {
        for (const query of ["", "?expand=contract", "?expand=x"]) {
          assertFailure(await service.api("GET", `/projects/${id}${query}`), 401, unauthorizedText)
          assertFailure(await service.api("GET", `/projects/${id}${query}`, { tenant }), 401, unauthorizedText)
        }
      }
    })

    it("are gone with their tenant", async () => {
      const { project, tenant } = await stage()
      assert.strictEqual((await service.api("DELETE", `/tenants/${tenant}`, { as: "owner" })).status, 204)
      for (const query of ["", "?expand=contract.client"]) {
        assertFailure(await get(project.id, {}, query), 404, notFoundText)
      }
    })

    it("are the same whatever tenant a header names", async () => {
      const { project } = await stage()
      for (const tenant of [await service.newTenant(), await service.newTenant("another"), "nonsense"]) {
        assert.deepStrictEqual((await get(project.id, { tenant })).body, { data: project })
      }
    })

    it("are neither changed nor deleted", async () => {
      const { project, tenant } = await stage()
      const missing: ExpectedError = [
        "tenant-id",
        "required",
        "names the tenant to work in; this operation needs the header"
      ]
      const body = { name: "Renamed" }
      assertValidationError(await service.api("PATCH", `/projects/${project.id}`, { as: "owner", body }), missing)
      assertValidationError(await service.api("DELETE", `/projects/${project.id}`, { as: "owner" }), missing)
      assert.deepStrictEqual((await get(project.id)).body, { data: project })
      const changed = await service.api("PATCH", `/projects/${project.id}`, { as: "owner", tenant, body })
      assert.strictEqual(changed.body.data.name, "Renamed")
    })
  })

  describe("in full", () => {
    it("show their contract and client as these are shown alone", async () => {
      const { client, contract, project, tenant } = await stage()
      const read = async (path: string) => (await service.api("GET", path, { as: "owner", tenant })).body.data
      assert.deepStrictEqual(await read(`/contracts/${contract.id}`), contract)
      assert.deepStrictEqual(await read(`/clients/${client.id}`), client)
      const inFull = {
        contract: { ...project, contract },
        client: { ...project, contract: { ...contract, client } }
      }
      for (const [expand, depth] of Object.entries(expansions)) {
        const { body, status } = await get(project.id, {}, `?expand=${expand}`)
        assert.strictEqual(status, 200, expand)
        assert.deepStrictEqual(body.data, inFull[depth], expand)
        assert.deepStrictEqual(Object.keys(body.data.contract), Object.keys(contract), expand)
      }
    })

    it("leave out of a relation what that leaves out alone", async () => {
      const { make } = resourceMaker(service, await service.newTenant())
      const client = await make("clients")
      const contract = await make("contracts", { clientId: client.id })
      const project = await make("projects", { contractId: contract.id })
      const { body } = await get(project.id, {}, "?expand=contract.client")
      assert.deepStrictEqual(body.data, { ...project, contract: { ...contract, client } })
    })

    const wrong = ["", ",", "client", "Contract", "contract.", "contract.client.media", "contract;contract.client", "*"]
    const oneAmongGood = [
      "contract,",
      ",contract",
      "contract,client",
      "x,contract.client",
      "contract,contract.client,id"
    ]
    it.each([...wrong, ...oneAmongGood, "__proto__", "%00"])("show no relation called %j", async (expand) => {
      const { project } = await stage()
      assertValidationError(await get(project.id, {}, `?expand=${expand}`), badExpand)
    })

    it("are another version than without, and a new one when a relation changes", async () => {
      const { client, contract, project, tenant } = await stage()
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

    it("cost the one statement they cost without", async () => {
      const { project } = await stage()
      for (const query of ["", ...Object.keys(expansions).map((expand) => `?expand=${expand}`)]) {
        const statements = await database.during(() => get(project.id, {}, query))
        assert.lengthOf(statements, 1, query)
        assert.match(statements[0] ?? "", /execute/)
      }
    })
  })

  it("are listed without relations, which a list does not show", async () => {
    const { project, tenant } = await stage()
    const listed = await service.api("GET", "/projects", { as: "owner", tenant })
    const shown: ReadonlyArray<ResourceBody> = listed.body.data
    assert.deepStrictEqual(shown, [project])
  })
})

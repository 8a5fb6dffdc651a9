import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { developmentIssuer } from "../../../src/layers/infra/auth/DevelopmentKey.ts"
import { readPages } from "../../support/fixtures/pages.ts"
import { type Service, type ServiceResponse, startService } from "../../support/servers/service.ts"

const notFound = { status: 404, text: `{"error":"NotFound","message":"Not Found"}` }
const statusAndText = ({ status, text }: ServiceResponse) => ({ status, text })

describe("Members", () => {
  let service: Service
  beforeAll(async () => {
    service = await startService({})
  })
  afterAll(() => service.stop())

  const tryAddMember = (tenant: string, body: object, as = "owner") =>
    service.api("POST", "/members", { as, tenant, body })
  const addMember = async (tenant: string, subject: string, role: string) => {
    const { body, status } = await tryAddMember(tenant, { subject, role })
    assert.strictEqual(status, 201)
    return String(body.data.id)
  }
  const idOf = async (tenant: string, subject: string) => {
    const { body } = await service.api("GET", "/members?limit=200", { as: "owner", tenant })
    return String(body.data.find((member: { subject: string }) => member.subject === subject).id)
  }
  const setRole = (tenant: string, id: string, role: string, as = "owner") =>
    service.api("PATCH", `/members/${id}`, { as, tenant, body: { role } })
  const remove = (tenant: string, id: string, as = "owner") => service.api("DELETE", `/members/${id}`, { as, tenant })

  const assertLastOwner = (response: ServiceResponse) => {
    assert.strictEqual(response.status, 400)
    assert.lengthOf(response.body.details, 1)
    assert.deepInclude(response.body.details[0], { field: "role", constraint: "state" })
  }

  it("read their own membership and role at /me", async () => {
    const tenant = await service.newTenant()
    const id = await addMember(tenant, "vera", "VIEWER")
    const { body } = await service.api("GET", "/me", { as: "vera", tenant })
    assert.deepInclude(body.data, { id, subject: "vera", role: "VIEWER" })
    assert.strictEqual((await service.api("GET", "/me", { as: "stranger", tenant })).status, 403)
  })

  it("are added, read, changed, listed and removed", async () => {
    const tenant = await service.newTenant()
    const created = await tryAddMember(tenant, { subject: "vera", role: "VIEWER" })
    assert.strictEqual(created.status, 201)
    const { id } = created.body.data
    assert.match(id, /^mem_[0-9a-z]{26}$/)
    assert.strictEqual(created.headers.get("location"), `/api/v1/members/${id}`)
    assert.deepInclude(created.body.data, { subject: "vera", role: "VIEWER", issuer: developmentIssuer.issuer })
    const read = () => service.api("GET", `/members/${id}`, { as: "vera", tenant })
    assert.deepStrictEqual((await read()).body, created.body)

    const changed = await setRole(tenant, id, "MEMBER")
    assert.deepInclude(changed.body.data, { id, subject: "vera", role: "MEMBER" })
    assert.deepStrictEqual((await read()).body, changed.body)

    const { body: listed } = await service.api("GET", "/members", { as: "vera", tenant })
    assert.lengthOf(listed.data, 2)
    assert.deepStrictEqual(listed.data[1], changed.body.data)

    assert.strictEqual((await remove(tenant, id)).status, 204)
    assert.strictEqual((await read()).status, 403, "the removed member cannot read")
    assert.deepStrictEqual(statusAndText(await remove(tenant, id)), notFound)
    assert.deepStrictEqual(statusAndText(await setRole(tenant, id, "VIEWER")), notFound)
  })

  it("are identified by issuer and subject", async () => {
    const tenant = await service.newTenant()
    const otherIssuer = await tryAddMember(tenant, {
      subject: "owner",
      role: "VIEWER",
      issuer: "https://elsewhere.test"
    })
    assert.strictEqual(otherIssuer.status, 201)
    assert.strictEqual(otherIssuer.body.data.issuer, "https://elsewhere.test")
    assert.strictEqual(
      (await tryAddMember(tenant, { subject: "eve", role: "VIEWER", issuer: "https://e.test" })).status,
      201
    )
    assert.strictEqual((await service.api("GET", "/clients", { as: "eve", tenant })).status, 403)
    assert.strictEqual((await tryAddMember(tenant, { subject: "eve", role: "VIEWER" })).status, 201)
    assert.strictEqual((await service.api("GET", "/clients", { as: "eve", tenant })).status, 200)
  })

  it("are added once by concurrent requests", async () => {
    const tenant = await service.newTenant()
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => tryAddMember(tenant, { subject: "vera", role: "VIEWER" }))
    )
    assert.deepStrictEqual(responses.map(({ status }) => status).sort(), [201, ...Array(7).fill(400)])
    for (const { body } of responses.filter(({ status }) => status === 400)) {
      assert.lengthOf(body.details, 1)
      assert.deepInclude(body.details[0], { field: "subject", constraint: "unique" })
    }
    const { body } = await service.api("GET", "/members", { as: "owner", tenant })
    assert.lengthOf(body.data, 2)
  })

  const invalidBodies: Readonly<Record<string, [body: object, ...details: ReadonlyArray<string>]>> = {
    "an empty body": [{}, "subject required", "role required"],
    "an unknown role": [{ subject: "x", role: "KING" }, "role enum"],
    "an empty subject": [{ subject: "", role: "VIEWER" }, "subject minLength"],
    "a long subject and a long issuer": [
      { subject: "s".repeat(256), issuer: "i".repeat(256), role: "VIEWER" },
      "issuer maxLength",
      "subject maxLength"
    ],
    "an id": [{ subject: "x", role: "VIEWER", id: "mem_1" }, "id unknown"]
  }
  for (const [what, [body, ...details]] of Object.entries(invalidBodies)) {
    it(`cannot be added with ${what}`, async () => {
      const response = await tryAddMember(await service.newTenant(), body)
      assert.strictEqual(response.status, 400)
      const errors = response.body.details.map(
        ({ constraint, field }: Record<string, string>) => `${field} ${constraint}`
      )
      assert.sameMembers(errors, [...details])
    })
  }

  for (const change of [{}, { role: "KING" }, { role: null }, { subject: "other" }, { role: "VIEWER", issuer: "x" }]) {
    it(`cannot be changed by ${JSON.stringify(change)}`, async () => {
      const tenant = await service.newTenant()
      const id = await addMember(tenant, "vera", "MEMBER")
      const response = await service.api("PATCH", `/members/${id}`, { as: "owner", tenant, body: change })
      assert.strictEqual(response.status, 400)
      const { body } = await service.api("GET", `/members/${id}`, { as: "owner", tenant })
      assert.deepInclude(body.data, { subject: "vera", role: "MEMBER", issuer: developmentIssuer.issuer })
    })
  }

  it("can be made OWNER, changed from OWNER or removed as OWNER only by an OWNER", async () => {
    const tenant = await service.newTenant()
    const member = await addMember(tenant, "mia", "MEMBER")
    const admin = await addMember(tenant, "ada", "ADMIN")
    const owner = await idOf(tenant, "owner")
    const rejected = [
      await tryAddMember(tenant, { subject: "olaf", role: "OWNER" }, "ada"),
      await setRole(tenant, member, "OWNER", "ada"),
      await setRole(tenant, admin, "OWNER", "ada"),
      await setRole(tenant, owner, "VIEWER", "ada"),
      await setRole(tenant, owner, "OWNER", "ada"),
      await remove(tenant, owner, "ada")
    ]
    for (const response of rejected) assert.strictEqual(response.status, 403)
    assert.strictEqual((await setRole(tenant, member, "OWNER")).status, 200)
    assert.strictEqual((await setRole(tenant, owner, "ADMIN", "mia")).status, 200)
    assert.strictEqual((await remove(tenant, owner, "mia")).status, 204)
  })

  it("include at least one OWNER, who cannot be demoted or removed", async () => {
    const tenant = await service.newTenant()
    const owner = await idOf(tenant, "owner")
    await addMember(tenant, "ada", "ADMIN")
    for (const role of ["ADMIN", "MEMBER", "VIEWER"]) assertLastOwner(await setRole(tenant, owner, role))
    assertLastOwner(await remove(tenant, owner))
    assert.strictEqual((await setRole(tenant, owner, "OWNER")).status, 200, "an unchanged role")

    const second = await addMember(tenant, "otto", "OWNER")
    assert.strictEqual((await remove(tenant, owner)).status, 204, "another OWNER is left")
    assertLastOwner(await remove(tenant, second, "otto"))
    assertLastOwner(await setRole(tenant, second, "VIEWER", "otto"))
  })

  for (const role of ["VIEWER", "MEMBER", "ADMIN", "OWNER"]) {
    it(`can leave as ${role} and lose their access`, async () => {
      const tenant = await service.newTenant()
      const id = await addMember(tenant, "lea", role)
      assert.strictEqual((await remove(tenant, id, "lea")).status, 204)
      assert.strictEqual((await service.api("GET", "/clients", { as: "lea", tenant })).status, 403)
      assert.strictEqual((await service.api("GET", `/tenants/${tenant}`, { as: "lea" })).status, 404)
    })
  }

  it("have the permissions of a new role from the next request on", async () => {
    const tenant = await service.newTenant()
    const id = await addMember(tenant, "ada", "ADMIN")
    const statusOfAdding = async (subject: string) =>
      (await tryAddMember(tenant, { subject, role: "VIEWER" }, "ada")).status
    assert.strictEqual(await statusOfAdding("first"), 201)
    await setRole(tenant, id, "MEMBER")
    assert.strictEqual(await statusOfAdding("second"), 403)
    await setRole(tenant, id, "ADMIN")
    assert.strictEqual(await statusOfAdding("third"), 201)
  })

  it("are listed in pages, each once and in the order of their creation", async () => {
    const tenant = await service.newTenant()
    const ids = [await idOf(tenant, "owner")]
    for (let n = 0; n < 10; n++) ids.push(await addMember(tenant, `subject-${n}`, "VIEWER"))
    for (const limit of [1, 3, 10, 11, 200]) {
      const pages = await readPages(service, `/members?limit=${limit}`, { as: "owner", tenant })
      assert.deepStrictEqual(
        pages.flat().map(({ id }) => id),
        ids,
        `limit ${limit}`
      )
      assert.lengthOf(pages, Math.ceil(ids.length / limit))
    }
  })
})

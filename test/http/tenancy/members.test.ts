import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { developmentIssuer } from "../../../src/layers/auth/DevelopmentKey.ts"
import { readPages } from "../../support/fixtures/pages.ts"
import { type Service, type ServiceResponse, startService } from "../../support/servers/service.ts"

const notFound = { status: 404, text: `{"error":"NotFound","message":"Not Found"}` }
const brief = ({ status, text }: ServiceResponse) => ({ status, text })

describe("members", () => {
  let service: Service
  beforeAll(async () => {
    service = await startService()
  })
  afterAll(() => service.stop())

  const invite = (tenant: string, body: object, as = "owner") => service.api("POST", "/members", { as, tenant, body })
  const letIn = async (tenant: string, subject: string, role: string) => {
    const { body, status } = await invite(tenant, { subject, role })
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

  const assertLastOwner = (answer: ServiceResponse) => {
    assert.strictEqual(answer.status, 400)
    assert.lengthOf(answer.body.details, 1)
    assert.deepInclude(answer.body.details[0], { field: "role", constraint: "state" })
  }

  it("are let in, read, changed, listed and removed", async () => {
    const tenant = await service.newTenant()
    const created = await invite(tenant, { subject: "vera", role: "VIEWER" })
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
    assert.strictEqual((await read()).status, 403, "no member any more")
    assert.deepStrictEqual(brief(await remove(tenant, id)), notFound)
    assert.deepStrictEqual(brief(await setRole(tenant, id, "VIEWER")), notFound)
  })

  it("are another's when another issuer vouches for the same subject", async () => {
    const tenant = await service.newTenant()
    const elsewhere = await invite(tenant, { subject: "owner", role: "VIEWER", issuer: "https://elsewhere.test" })
    assert.strictEqual(elsewhere.status, 201)
    assert.strictEqual(elsewhere.body.data.issuer, "https://elsewhere.test")
    assert.strictEqual((await invite(tenant, { subject: "eve", role: "VIEWER", issuer: "https://e.test" })).status, 201)
    assert.strictEqual((await service.api("GET", "/clients", { as: "eve", tenant })).status, 403)
    assert.strictEqual((await invite(tenant, { subject: "eve", role: "VIEWER" })).status, 201)
    assert.strictEqual((await service.api("GET", "/clients", { as: "eve", tenant })).status, 200)
  })

  it("are let in once, however often that is asked at the same time", async () => {
    const tenant = await service.newTenant()
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => invite(tenant, { subject: "vera", role: "VIEWER" }))
    )
    assert.deepStrictEqual(answers.map(({ status }) => status).sort(), [201, ...Array(7).fill(400)])
    for (const { body } of answers.filter(({ status }) => status === 400)) {
      assert.lengthOf(body.details, 1)
      assert.deepInclude(body.details[0], { field: "subject", constraint: "unique" })
    }
    const { body } = await service.api("GET", "/members", { as: "owner", tenant })
    assert.lengthOf(body.data, 2)
  })

  const badBodies: Readonly<Record<string, [body: object, ...details: ReadonlyArray<string>]>> = {
    nothing: [{}, "subject required", "role required"],
    "a role there is not": [{ subject: "x", role: "KING" }, "role enum"],
    "an empty subject": [{ subject: "", role: "VIEWER" }, "subject minLength"],
    "a long subject and a long issuer": [
      { subject: "s".repeat(256), issuer: "i".repeat(256), role: "VIEWER" },
      "issuer maxLength",
      "subject maxLength"
    ],
    "an id of the caller's choice": [{ subject: "x", role: "VIEWER", id: "mem_1" }, "id unknown"]
  }
  for (const [what, [body, ...details]] of Object.entries(badBodies)) {
    it(`are not let in with ${what}`, async () => {
      const answer = await invite(await service.newTenant(), body)
      assert.strictEqual(answer.status, 400)
      const told = answer.body.details.map(({ constraint, field }: Record<string, string>) => `${field} ${constraint}`)
      assert.sameMembers(told, [...details])
    })
  }

  for (const change of [{}, { role: "KING" }, { role: null }, { subject: "other" }, { role: "VIEWER", issuer: "x" }]) {
    it(`are not changed by ${JSON.stringify(change)}`, async () => {
      const tenant = await service.newTenant()
      const id = await letIn(tenant, "vera", "MEMBER")
      const answer = await service.api("PATCH", `/members/${id}`, { as: "owner", tenant, body: change })
      assert.strictEqual(answer.status, 400)
      const { body } = await service.api("GET", `/members/${id}`, { as: "owner", tenant })
      assert.deepInclude(body.data, { subject: "vera", role: "MEMBER", issuer: developmentIssuer.issuer })
    })
  }

  it("become OWNER by an OWNER's word alone, and only an OWNER touches one", async () => {
    const tenant = await service.newTenant()
    const member = await letIn(tenant, "mia", "MEMBER")
    const admin = await letIn(tenant, "ada", "ADMIN")
    const owner = await idOf(tenant, "owner")
    const refused = [
      await invite(tenant, { subject: "olaf", role: "OWNER" }, "ada"),
      await setRole(tenant, member, "OWNER", "ada"),
      await setRole(tenant, admin, "OWNER", "ada"),
      await setRole(tenant, owner, "VIEWER", "ada"),
      await setRole(tenant, owner, "OWNER", "ada"),
      await remove(tenant, owner, "ada")
    ]
    for (const answer of refused) assert.strictEqual(answer.status, 403)
    assert.strictEqual((await setRole(tenant, member, "OWNER")).status, 200)
    assert.strictEqual((await setRole(tenant, owner, "ADMIN", "mia")).status, 200)
    assert.strictEqual((await remove(tenant, owner, "mia")).status, 204)
  })

  it("keep a last OWNER, who can neither step down nor be removed nor leave", async () => {
    const tenant = await service.newTenant()
    const owner = await idOf(tenant, "owner")
    await letIn(tenant, "ada", "ADMIN")
    for (const role of ["ADMIN", "MEMBER", "VIEWER"]) assertLastOwner(await setRole(tenant, owner, role))
    assertLastOwner(await remove(tenant, owner))
    assert.strictEqual((await setRole(tenant, owner, "OWNER")).status, 200, "stays what it is")

    const second = await letIn(tenant, "otto", "OWNER")
    assert.strictEqual((await remove(tenant, owner)).status, 204, "another is left")
    assertLastOwner(await remove(tenant, second, "otto"))
    assertLastOwner(await setRole(tenant, second, "VIEWER", "otto"))
  })

  for (const role of ["VIEWER", "MEMBER", "ADMIN", "OWNER"]) {
    it(`may leave as ${role}, and are then outside`, async () => {
      const tenant = await service.newTenant()
      const id = await letIn(tenant, "lea", role)
      assert.strictEqual((await remove(tenant, id, "lea")).status, 204)
      assert.strictEqual((await service.api("GET", "/clients", { as: "lea", tenant })).status, 403)
      assert.strictEqual((await service.api("GET", `/tenants/${tenant}`, { as: "lea" })).status, 404)
    })
  }

  it("act in their new role from the next request on", async () => {
    const tenant = await service.newTenant()
    const id = await letIn(tenant, "ada", "ADMIN")
    const lets = async (subject: string) => (await invite(tenant, { subject, role: "VIEWER" }, "ada")).status
    assert.strictEqual(await lets("first"), 201)
    await setRole(tenant, id, "MEMBER")
    assert.strictEqual(await lets("second"), 403)
    await setRole(tenant, id, "ADMIN")
    assert.strictEqual(await lets("third"), 201)
  })

  it("are all found page by page, each once and in the order they came", async () => {
    const tenant = await service.newTenant()
    const ids = [await idOf(tenant, "owner")]
    for (let n = 0; n < 10; n++) ids.push(await letIn(tenant, `subject-${n}`, "VIEWER"))
    for (const limit of [1, 3, 10, 11, 200]) {
      const pages = await readPages(service, `/members?limit=${limit}`, { as: "owner", tenant })
      assert.deepStrictEqual(
        pages.flat().map(({ id }) => id),
        ids,
        `${limit} a page`
      )
      assert.lengthOf(pages, Math.ceil(ids.length / limit))
    }
  })
})

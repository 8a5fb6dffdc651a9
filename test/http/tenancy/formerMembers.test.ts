import { assert, describe, it } from "vitest"
import { Api } from "../../../src/http/api/Api.ts"
import { makeOpenApiDocument } from "../../../src/http/api/OpenApi.ts"
import { type Operation, operationsOf } from "../../support/assertions/operations.ts"
import { invoiceClient } from "../../support/fixtures/invoices.ts"
import { addMember } from "../../support/fixtures/members.ts"
import { makeTenantFixture } from "../../support/fixtures/tenantFixture.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { startService } from "../../support/servers/service.ts"
import { startServiceWithPool } from "../../support/servers/serviceWithPool.ts"
import { openLoggedDatabase } from "../../support/servers/statementLog.ts"

const inTenants = operationsOf(makeOpenApiDocument(Api)).filter(({ tenant }) => tenant !== "none")

const unknownId = "0".repeat(26)

/** Requests that would be rejected for another reason, if the caller were a member. */
const wrongRequests = ({ body, pathParameters }: Operation) => [
  ...(body === undefined ? [] : [{ body: { unknownField: 1 } }]),
  ...pathParameters.slice(-1).map(({ name }) => ({ path: name })),
  { headers: { "if-match": `"other"` } }
]

const startFixture = async (environment: Readonly<Record<string, string>> = {}) => {
  const { pool, service, stop } = await startServiceWithPool(environment)
  const fixture = await makeTenantFixture(service, "owner")

  /** A member that the service has just seen, and that is none any more. */
  const leave = async (role = "OWNER") => {
    await pool.query(
      `insert into members (tenant_id, id, issuer, subject, role, created_at, updated_at, sequence)
       select tenant_id, 'mem_former', issuer, 'former', $2, created_at, updated_at, 1
       from members where tenant_id = $1 and subject = 'owner'`,
      [fixture.tenant, role]
    )
    const { status } = await service.api("GET", "/clients?limit=1", { as: "former", tenant: fixture.tenant })
    assert.strictEqual(status, 200)
    await pool.query("delete from members where id = 'mem_former'")
  }

  /** The rows of all tables but those of members and events; of these, the number that are not of members. */
  const readRows = async () => {
    const { rows: tables } = await pool.query<{ name: string }>(
      `select table_name as name from information_schema.columns
       where table_schema = 'public' and column_name = 'tenant_id' order by 1`
    )
    const counted = tables.filter(({ name }) => !["members", "events", "outbox"].includes(name))
    const counts = counted.map(
      ({ name }) =>
        `select '${name}' as name, count(*)::int as rows, md5(string_agg(t::text, ' ' order by t::text)) from ${name} t`
    )
    const { rows } = await pool.query(counts.join(" union all "))
    const { rows: events } = await pool.query("select count(*) from events where resource_id not like 'mem%'")
    return { rows, events }
  }
  return { service, pool, fixture, leave, readRows, stop }
}

describe("A caller who was a member a moment ago", () => {
  const stage = useFixture(startFixture)

  it("gets the answer of a stranger from every operation, whatever else is wrong, and changes nothing", async () => {
    const { fixture, leave, readRows, service } = stage()
    const before = await readRows()
    const differences: Array<string> = []
    for (const operation of inTenants) {
      const expected = operation.tenant === "header" ? 403 : 404
      const options = { as: "former", ...(operation.tenant === "header" ? { tenant: fixture.tenant } : {}) }
      const valid = { ...options, ...fixture.bodyOf(operation) }
      for (const wrong of [{}, ...wrongRequests(operation)]) {
        await leave()
        const { path, ...other } = { path: undefined, ...wrong }
        if (path === "tenantId") continue
        const given = path === undefined ? {} : { [path]: `xxx_${unknownId}` }
        const { status } = await service.call(operation.method, fixture.addressIn(operation, given), {
          ...valid,
          ...other
        })
        if (status !== expected) differences.push(`${operation.name} ${JSON.stringify(wrong)}: ${status}`)
      }
    }
    assert.deepStrictEqual(differences, [])
    assert.deepStrictEqual(await readRows(), before)
  })

  it("is rejected in a burst as a whole, and let in again as a member", async () => {
    const { fixture, leave, pool, service } = stage()
    await leave()
    const create = () =>
      service.api("POST", "/clients", { as: "former", tenant: fixture.tenant, body: { name: "Of a former member" } })
    const statuses = await Promise.all(Array.from({ length: 40 }, async () => (await create()).status))
    assert.deepStrictEqual(new Set(statuses), new Set([403]))
    const { rows } = await pool.query("select 1 from clients where name = 'Of a former member'")
    assert.deepStrictEqual(rows, [])
    await addMember(service, fixture.tenant, "former", "MEMBER")
    assert.strictEqual((await create()).status, 201)
    assert.strictEqual((await create()).status, 201)
  })

  it("takes no number for an invoice with a role that it lost", async () => {
    const { fixture, pool, service } = stage()
    const { call, invoiceIn } = invoiceClient(service, fixture.tenant)
    await addMember(service, fixture.tenant, "demoted", "ADMIN")
    const [first, second] = [await invoiceIn("DRAFT"), await invoiceIn("DRAFT")]
    const finalize = ({ id }: { readonly id: string }) =>
      service.api("POST", `/invoices/${id}/finalize`, { as: "demoted", tenant: fixture.tenant })
    assert.strictEqual((await finalize(first)).status, 200)
    await pool.query("update members set role = 'MEMBER' where subject = 'demoted'")
    const readCounters = () => pool.query("select * from invoice_counters order by tenant_id, period")
    const { rows: before } = await readCounters()
    assert.strictEqual((await finalize(second)).status, 403)
    assert.deepStrictEqual((await readCounters()).rows, before)
    assert.strictEqual((await call("GET", `/invoices/${second.id}`)).body.data.status, "DRAFT")
  })

  it("finds nothing in a tenant that was deleted", async () => {
    const { service } = stage()
    const tenant = await service.newTenant("leaver")
    const list = () => service.api("GET", "/clients", { as: "leaver", tenant })
    assert.strictEqual((await list()).status, 200)
    assert.strictEqual((await service.api("DELETE", `/tenants/${tenant}`, { as: "leaver" })).status, 204)
    assert.strictEqual((await list()).status, 403)
  })
})

describe("A stranger", () => {
  const stage = useFixture(() => startFixture({ RATE_LIMIT_PER_TENANT: "1000" }))

  it("costs the tenant nothing of its rate, and has a statement of a write never sent", async () => {
    const { fixture, readRows, service } = stage()
    const before = await readRows()
    const remaining = async () => {
      const { headers } = await service.api("GET", "/clients", { as: "owner", tenant: fixture.tenant })
      return Number(/r=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1])
    }
    const first = await remaining()
    for (let n = 0; n < 5; n++) {
      const options = { as: "stranger", tenant: fixture.tenant, body: { name: "Client" } }
      assert.strictEqual((await service.api("POST", "/clients", options)).status, 403)
    }
    assert.isAtLeast(await remaining(), first - 1)
    assert.deepStrictEqual(await readRows(), before)
  })
})

describe("The statements of a member's requests", () => {
  it.each(["named", "unnamed"])("begin with the check of the membership, with %s statements", async (naming) => {
    const database = await openLoggedDatabase()
    const service = await startService({ DATABASE_URL: database.url, DATABASE_STATEMENTS: naming })
    try {
      const tenant = await service.newTenant()
      const send = (method: string, path: string, body?: object) =>
        service.api(method, path, { as: "owner", tenant, ...(body === undefined ? {} : { body }) })
      const { body } = await send("POST", "/clients", { name: "Client" })
      const path = `/clients/${body.data.id}`
      for (const [method, address, change] of [
        ["GET", "/clients", undefined],
        ["POST", "/clients", { name: "Another" }],
        ["PATCH", path, { name: "Renamed" }]
      ] as const) {
        const statements = (await database.during(() => send(method, address, change))).map((line) =>
          line.replace(/^.*?(?:statement|execute \S+): /, "")
        )
        assert.match(statements[0] ?? "", /^select coalesce\(\(/, `${method} ${address}`)
        assert.lengthOf(
          statements.filter((statement) => /members m join tenants|^select coalesce\(\(/.test(statement)),
          1,
          statements.join("\n")
        )
      }
    } finally {
      await service.stop()
      await database.drop()
    }
  })
})

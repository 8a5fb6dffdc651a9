import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { openPool } from "../../support/database.ts"
import { type Service, startService } from "../../support/service.ts"

describe("events", () => {
  let service: Service
  let sql: ReturnType<typeof openPool>
  beforeAll(async () => {
    service = await startService()
    sql = openPool(service.database.url)
  })
  afterAll(async () => {
    await sql.end()
    await service.stop()
  })

  const eventsOf = async (resource: string) => {
    const { rows } = await sql.query(
      `select type, tenant_id, client_id, sequence, data::text as text from events where resource_id = $1 order by sequence`,
      [resource]
    )
    return rows
  }

  it("tell every write with the resource as the API showed it, counted per resource", async () => {
    const tenant = await service.newTenant()
    const as = { as: "owner", tenant }
    const created = await service.api("POST", "/clients", { ...as, body: { order: 1, name: "Told" } })
    const path = `/clients/${created.body.data.id}`
    const changed = await service.api("PATCH", path, { ...as, body: { description: "more", order: null } })
    await service.api("DELETE", path, as)
    const told = await eventsOf(created.body.data.id)
    assert.deepStrictEqual(
      told.map(({ client_id, sequence, tenant_id, type }) => [type, sequence, tenant_id, client_id]),
      ["created", "updated", "deleted"].map((action, n) => [`client.${action}`, n + 1, tenant, created.body.data.id])
    )
    const shown = [created, changed, changed].map(({ text }) => text.slice('{"data":'.length, -1))
    assert.deepStrictEqual(
      told.map(({ text }) => text),
      shown
    )
  })

  it("are not left by writes that were refused", async () => {
    const tenant = await service.newTenant()
    const { rows: before } = await sql.query("select count(*)::int as n from events where tenant_id = $1", [tenant])
    await service.api("POST", "/members", { as: "owner", tenant, body: { subject: "owner", role: "VIEWER" } })
    await service.api("PATCH", "/clients/clnt_none", { as: "owner", tenant, body: { name: "x" } })
    const { rows: after } = await sql.query("select count(*)::int as n from events where tenant_id = $1", [tenant])
    assert.deepStrictEqual(after, before)
  })

  it("have no gap and no double when many write the same resource at once", async () => {
    const tenant = await service.newTenant()
    const as = { as: "owner", tenant }
    const { body } = await service.api("POST", "/clients", { ...as, body: { name: "Busy" } })
    const writes = Array.from({ length: 60 }, (_, n) =>
      service.api("PATCH", `/clients/${body.data.id}`, { ...as, body: { order: n } })
    )
    assert.deepStrictEqual(new Set((await Promise.all(writes)).map(({ status }) => status)), new Set([200]))
    const told = await eventsOf(body.data.id)
    assert.deepStrictEqual(
      told.map(({ sequence }) => sequence),
      Array.from({ length: writes.length + 1 }, (_, n) => n + 1)
    )
    const { body: now } = await service.api("GET", `/clients/${body.data.id}`, as)
    assert.deepStrictEqual(JSON.parse(told.at(-1)?.text), now.data)
  })
})

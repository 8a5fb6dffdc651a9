import { assert, describe, it } from "vitest"
import { forAll } from "../../support/forAll.ts"
import { startWithPool } from "../../support/staging.ts"

describe("events", () => {
  const at = forAll(startWithPool)

  const eventsOf = async (resource: string) => {
    const { rows } = await at().pool.query(
      `select type, tenant_id, client_id, sequence, data::text as text from events where resource_id = $1 order by sequence`,
      [resource]
    )
    return rows
  }

  it("tell every write with the resource as the API showed it, counted per resource", async () => {
    const tenant = await at().service.newTenant()
    const as = { as: "owner", tenant }
    const created = await at().service.api("POST", "/clients", { ...as, body: { order: 1, name: "Told" } })
    const path = `/clients/${created.body.data.id}`
    const changed = await at().service.api("PATCH", path, { ...as, body: { description: "more", order: null } })
    await at().service.api("DELETE", path, as)
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
    const tenant = await at().service.newTenant()
    const { rows: before } = await at().pool.query("select count(*)::int as n from events where tenant_id = $1", [
      tenant
    ])
    await at().service.api("POST", "/members", { as: "owner", tenant, body: { subject: "owner", role: "VIEWER" } })
    await at().service.api("PATCH", "/clients/clnt_none", { as: "owner", tenant, body: { name: "x" } })
    const { rows: after } = await at().pool.query("select count(*)::int as n from events where tenant_id = $1", [
      tenant
    ])
    assert.deepStrictEqual(after, before)
  })

  it("have no gap and no double when many write the same resource at once", async () => {
    const tenant = await at().service.newTenant()
    const as = { as: "owner", tenant }
    const { body } = await at().service.api("POST", "/clients", { ...as, body: { name: "Busy" } })
    const writes = Array.from({ length: 60 }, (_, n) =>
      at().service.api("PATCH", `/clients/${body.data.id}`, { ...as, body: { order: n } })
    )
    assert.deepStrictEqual(new Set((await Promise.all(writes)).map(({ status }) => status)), new Set([200]))
    const told = await eventsOf(body.data.id)
    assert.deepStrictEqual(
      told.map(({ sequence }) => sequence),
      Array.from({ length: writes.length + 1 }, (_, n) => n + 1)
    )
    const { body: now } = await at().service.api("GET", `/clients/${body.data.id}`, as)
    assert.deepStrictEqual(JSON.parse(told.at(-1)?.text), now.data)
  })
})

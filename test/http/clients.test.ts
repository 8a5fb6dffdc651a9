import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Service, startService } from "../support/service.ts"

describe("clients", () => {
  let service: Service
  let tenant: string
  beforeAll(async () => {
    service = await startService()
    tenant = await service.newTenant()
  })
  afterAll(() => service.stop())

  const as = (body?: unknown) => ({ as: "owner", tenant, ...(body === undefined ? {} : { body }) })

  it("are created, read, changed, listed and removed", async () => {
    const created = await service.api("POST", "/clients", as({ name: "Northwind", description: "Pumps", order: 2 }))
    assert.strictEqual(created.status, 201)
    const { id } = created.body.data
    assert.match(id, /^clnt_[0-9a-z]{26}$/)
    assert.strictEqual(created.headers.get("location"), `/api/v1/clients/${id}`)
    assert.deepInclude(created.body.data, { name: "Northwind", description: "Pumps", order: 2, media: [] })

    const read = await service.api("GET", `/clients/${id}`, as())
    assert.deepStrictEqual(read.body, created.body)

    const changed = await service.api("PATCH", `/clients/${id}`, as({ name: "Northwind Ltd", description: null }))
    assert.strictEqual(changed.status, 200)
    assert.deepInclude(changed.body.data, { id, name: "Northwind Ltd", order: 2, createdAt: read.body.data.createdAt })
    assert.notProperty(changed.body.data, "description")
    assert.isTrue(changed.body.data.updatedAt >= read.body.data.updatedAt)

    const listed = await service.api("GET", "/clients", as())
    assert.deepStrictEqual(listed.body.data, [changed.body.data])

    assert.strictEqual((await service.api("DELETE", `/clients/${id}`, as())).status, 204)
    assert.strictEqual((await service.api("GET", `/clients/${id}`, as())).status, 404)
    assert.strictEqual((await service.api("DELETE", `/clients/${id}`, as())).status, 404)
  })
})

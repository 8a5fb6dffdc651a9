import fc from "fast-check"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Service, startService } from "../../support/servers/service.ts"

describe("Clients", () => {
  let service: Service
  let tenant: string
  beforeAll(async () => {
    service = await startService()
    tenant = await service.newTenant()
  })
  afterAll(() => service.stop())

  const asOwner = (body?: unknown) => ({ as: "owner", tenant, ...(body === undefined ? {} : { body }) })

  it("are created, read, changed, listed and deleted", async () => {
    const created = await service.api(
      "POST",
      "/clients",
      asOwner({ name: "Northwind", description: "Pumps", order: 2 })
    )
    assert.strictEqual(created.status, 201)
    const { id } = created.body.data
    assert.match(id, /^clnt_[0-9a-z]{26}$/)
    assert.strictEqual(created.headers.get("location"), `/api/v1/clients/${id}`)
    assert.deepInclude(created.body.data, { name: "Northwind", description: "Pumps", order: 2, media: [] })

    const read = await service.api("GET", `/clients/${id}`, asOwner())
    assert.deepStrictEqual(read.body, created.body)

    const changed = await service.api("PATCH", `/clients/${id}`, asOwner({ name: "Northwind Ltd", description: null }))
    assert.strictEqual(changed.status, 200)
    assert.deepInclude(changed.body.data, { id, name: "Northwind Ltd", order: 2, createdAt: read.body.data.createdAt })
    assert.notProperty(changed.body.data, "description")
    assert.isTrue(changed.body.data.updatedAt >= read.body.data.updatedAt)

    const listed = await service.api("GET", "/clients", asOwner())
    assert.deepStrictEqual(listed.body.data, [changed.body.data])

    assert.strictEqual((await service.api("DELETE", `/clients/${id}`, asOwner())).status, 204)
    assert.strictEqual((await service.api("GET", `/clients/${id}`, asOwner())).status, 404)
    assert.strictEqual((await service.api("DELETE", `/clients/${id}`, asOwner())).status, 404)
  })

  it("are listed with the same JSON as GET /clients/{clientId}, for any name", async () => {
    const other = await service.newTenant()
    const call = (method: string, path: string, body?: unknown) =>
      service.api(method, path, { as: "owner", tenant: other, ...(body === undefined ? {} : { body }) })
    assert.strictEqual((await call("GET", "/clients")).text, '{"data":[]}')
    const texts = fc.sample(fc.string({ unit: "binary", minLength: 1, maxLength: 60 }), { numRuns: 60, seed: 7 })
    const names = [
      ...texts.filter((text) => !text.includes("\u0000") && text.isWellFormed()),
      '"\\/\b\f\n\r\t\u001f\u007f\u2028\ud83d\ude00'
    ]
    for (const [n, name] of names.entries()) {
      const order = n % 3 === 0 ? {} : { order: n % 3 === 1 ? 0 : Number.MAX_SAFE_INTEGER }
      const { status } = await call("POST", "/clients", {
        name,
        ...order,
        ...(n % 2 === 0 ? {} : { description: name })
      })
      assert.strictEqual(status, 201)
    }
    const listed = await call("GET", "/clients")
    const single = await Promise.all(listed.body.data.map(({ id }: { id: string }) => call("GET", `/clients/${id}`)))
    const expected = single.map(({ text }) => text.slice('{"data":'.length, -1))
    assert.strictEqual(listed.text, `{"data":[${expected.join(",")}]}`)
    assert.strictEqual(expected.length, names.length)
  })

  it("are listed by order, then by id, those without an order last", async () => {
    const other = await service.newTenant()
    for (const order of [5, undefined, 0, 5, undefined, 2]) {
      const body = { name: String(order), ...(order === undefined ? {} : { order }) }
      await service.api("POST", "/clients", { as: "owner", tenant: other, body })
    }
    const { body } = await service.api("GET", "/clients", { as: "owner", tenant: other })
    const ids = body.data.map(({ id, order }: { id: string; order?: number }) => [
      order ?? Number.POSITIVE_INFINITY,
      id
    ])
    assert.deepStrictEqual(
      ids.map(([order]: [number]) => order),
      [0, 2, 5, 5, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
    )
    assert.deepStrictEqual(
      [...ids].sort(([a, x], [b, y]) => (a === b ? x.localeCompare(y) : a - b)),
      ids
    )
  })
})

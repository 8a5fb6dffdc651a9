import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { invoiceClient, lineOf } from "../../support/fixtures/invoices.ts"
import { type Service, startService } from "../../support/servers/service.ts"

const headers = { "idempotency-key": "month-end" }

describe("lines sent with one Idempotency-Key", () => {
  let service: Service
  beforeAll(async () => {
    service = await startService()
  })
  afterAll(() => service.stop())

  const stage = async () => {
    const invoicing = invoiceClient(service, await service.newTenant())
    const { id } = await invoicing.draft()
    const body = { invoiceId: id, billables: [lineOf({ referenceType: "work", referenceId: "1" }), lineOf()] }
    return { ...invoicing, id, body, send: () => invoicing.call("POST", "/billables", body, headers) }
  }

  it("are added once by twenty requests at once, which all get the same answer", async () => {
    const { id, lines, read, send } = await stage()
    const answers = await Promise.all(Array.from({ length: 20 }, send))
    assert.deepStrictEqual(new Set(answers.map(({ status }) => status)), new Set([201]))
    assert.strictEqual(new Set(answers.map(({ text }) => text)).size, 1)
    assert.deepStrictEqual(
      new Set(answers.map(({ headers }) => headers.get("location"))),
      new Set([`/api/v1/billables?invoiceId=${id}`])
    )
    const replayed = answers.filter(({ headers }) => headers.get("idempotent-replayed") === "true")
    assert.lengthOf(replayed, 19)
    assert.deepInclude(await read(id), { totalMinor: 200, billableCount: 2 })
    assert.deepStrictEqual(await lines(id), answers[0]?.body.data)
  })

  it("are answered for as before when the invoice has moved on, and added no more", async () => {
    const { id, move, read, send } = await stage()
    const first = await send()
    const finalized = await move(id, "finalize")
    const again = await send()
    assert.deepStrictEqual([again.status, again.text], [first.status, first.text])
    assert.deepStrictEqual(await read(id), finalized)
  })

  it("leave the key free when they were refused", async () => {
    const { body, call, id, read, send } = await stage()
    const bad = { ...body, billables: [...body.billables, lineOf({ currencyCode: "USD" })] }
    assert.strictEqual((await call("POST", "/billables", bad, headers)).status, 400)
    assert.strictEqual((await send()).status, 201)
    assert.strictEqual((await call("POST", "/billables", bad, headers)).status, 409)
    assert.strictEqual((await read(id)).billableCount, 2)
  })

  it("give one number when an invoice is finalized by twenty requests at once", async () => {
    const { call, id, send } = await stage()
    await send()
    const finalize = () => call("POST", `/invoices/${id}/finalize`, undefined, headers)
    const answers = await Promise.all(Array.from({ length: 20 }, finalize))
    assert.deepStrictEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
    assert.strictEqual(new Set(answers.map(({ text }) => text)).size, 1)
    const { body } = await call("GET", "/invoice-series")
    assert.deepInclude(body.data.periods[0], { count: 1, gaps: [] })
  })
})

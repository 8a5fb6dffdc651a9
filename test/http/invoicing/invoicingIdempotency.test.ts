import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { invoiceClient, lineOf } from "../../support/fixtures/invoices.ts"
import { type Service, startService } from "../../support/servers/service.ts"

const headers = { "idempotency-key": "month-end" }

describe("Requests with the same Idempotency-Key", () => {
  let service: Service
  beforeAll(async () => {
    service = await startService()
  })
  afterAll(() => service.stop())

  const createDraft = async () => {
    const invoices = invoiceClient(service, await service.newTenant())
    const { id } = await invoices.draft()
    const body = { invoiceId: id, billables: [lineOf({ referenceType: "work", referenceId: "1" }), lineOf()] }
    return { ...invoices, id, body, send: () => invoices.call("POST", "/billables", body, headers) }
  }

  it("add lines once and get the same response, also concurrently", async () => {
    const { id, lines, read, send } = await createDraft()
    const responses = await Promise.all(Array.from({ length: 20 }, send))
    assert.deepStrictEqual(new Set(responses.map(({ status }) => status)), new Set([201]))
    assert.strictEqual(new Set(responses.map(({ text }) => text)).size, 1)
    assert.deepStrictEqual(
      new Set(responses.map(({ headers }) => headers.get("location"))),
      new Set([`/api/v1/billables?invoiceId=${id}`])
    )
    const replayed = responses.filter(({ headers }) => headers.get("idempotent-replayed") === "true")
    assert.lengthOf(replayed, 19)
    assert.deepInclude(await read(id), { totalMinor: 200, billableCount: 2 })
    assert.deepStrictEqual(await lines(id), responses[0]?.body.data)
  })

  it("get the first response after the invoice is finalized", async () => {
    const { id, transition, read, send } = await createDraft()
    const first = await send()
    const finalized = await transition(id, "finalize")
    const again = await send()
    assert.deepStrictEqual([again.status, again.text], [first.status, first.text])
    assert.deepStrictEqual(await read(id), finalized)
  })

  it("can reuse the key after a rejection", async () => {
    const { body, call, id, read, send } = await createDraft()
    const bad = { ...body, billables: [...body.billables, lineOf({ currencyCode: "USD" })] }
    assert.strictEqual((await call("POST", "/billables", bad, headers)).status, 400)
    assert.strictEqual((await send()).status, 201)
    assert.strictEqual((await call("POST", "/billables", bad, headers)).status, 409)
    assert.strictEqual((await read(id)).billableCount, 2)
  })

  it("finalize an invoice once and get one number", async () => {
    const { call, id, send } = await createDraft()
    await send()
    const finalize = () => call("POST", `/invoices/${id}/finalize`, undefined, headers)
    const responses = await Promise.all(Array.from({ length: 20 }, finalize))
    assert.deepStrictEqual(new Set(responses.map(({ status }) => status)), new Set([200]))
    assert.strictEqual(new Set(responses.map(({ text }) => text)).size, 1)
    const { body } = await call("GET", "/invoice-series")
    assert.deepInclude(body.data.periods[0], { count: 1, gaps: [] })
  })
})

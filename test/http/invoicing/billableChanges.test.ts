import { assert, describe, it } from "vitest"
import {
  assertFailure,
  assertValidationError,
  type ExpectedError,
  notFoundText
} from "../../support/assertions/failures.ts"
import { invoiceClient, readBilledMinor, readInvoicingRows } from "../../support/fixtures/invoices.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { startServiceWithPool } from "../../support/servers/serviceWithPool.ts"

const maxInteger = 9007199254740991

const full = {
  name: "Pumps",
  quantity: 3,
  amountMinor: 1_000,
  currencyCode: "EUR",
  referenceType: "work",
  referenceId: "1",
  description: "Delivered",
  metadata: { a: "1", b: "2" },
  order: 4
}

describe("A line of a draft invoice", () => {
  const fixture = useFixture(startServiceWithPool)

  /** Creates a draft with two lines, the first of which has every field. */
  const createDraft = async () => {
    const invoices = invoiceClient(fixture().service, await fixture().service.newTenant())
    const { id: contractId } = await invoices.contract()
    const { id } = await invoices.draft({ contractId })
    const [line, other] = await invoices.add(id, full, { amountMinor: 10 })
    if (line === undefined || other === undefined) return assert.fail("expected two lines")
    const path = `/billables/${line.id}`
    const change = (body: unknown) => invoices.call("PATCH", path, body)
    return { ...invoices, contractId, id, line, other, path, change }
  }

  it.each<[change: object, lineTotalMinor: number]>([
    [{ name: "Valves" }, 3_000],
    [{ quantity: 2.5 }, 2_500],
    [{ quantity: 0 }, 0],
    [{ quantity: -1.0005 }, -1_001],
    [{ amountMinor: 7 }, 21],
    [{ amountMinor: -7, quantity: 0.5 }, -4],
    [{ currencyCode: "EUR" }, 3_000],
    [{ referenceId: "2" }, 3_000],
    [{ referenceType: "issue", referenceId: "9" }, 3_000],
    [{ description: "" }, 3_000],
    [{ metadata: {} }, 3_000],
    [{ metadata: { c: "3" } }, 3_000],
    [{ order: 0 }, 3_000]
  ])("is changed by %j together with the total of the invoice", async (change, lineTotalMinor) => {
    const { change: apply, contractId, id, line, path, call, read } = await createDraft()
    const { body, headers, status, text } = await apply(change)
    assert.strictEqual(status, 200, text)
    assert.deepStrictEqual(body.data, { ...line, ...change, lineTotalMinor, updatedAt: body.data.updatedAt })
    const again = await call("GET", path)
    assert.deepStrictEqual([again.text, again.headers.get("etag")], [text, headers.get("etag")])
    const totalMinor = lineTotalMinor + 10
    assert.deepInclude(await read(id), { subtotalMinor: totalMinor, totalMinor, billableCount: 2 })
    assert.strictEqual(await readBilledMinor(fixture().pool, contractId), totalMinor)
  })

  const clearable: ReadonlyArray<ReadonlyArray<string>> = [
    ["description"],
    ["metadata"],
    ["order"],
    ["referenceType", "referenceId"],
    ["description", "metadata", "order", "referenceType", "referenceId"]
  ]
  it.each(clearable.map((names) => ({ names })))("is cleared of $names by null", async ({ names }) => {
    const { change, line, path, call } = await createDraft()
    const { body, status } = await change(Object.fromEntries(names.map((name) => [name, null])))
    assert.strictEqual(status, 200)
    const kept = Object.entries(line).filter(([name]) => !names.includes(name))
    assert.deepStrictEqual(body.data, { ...Object.fromEntries(kept), updatedAt: body.data.updatedAt })
    assert.deepStrictEqual((await call("GET", path)).body, body)
  })

  it.each<[change: object, ...expectedErrors: ReadonlyArray<ExpectedError>]>([
    [{}, ["body", "required", "must contain at least one field to change"]],
    [{ name: null }, ["name", "type", "must be a string"]],
    [{ quantity: null }, ["quantity", "type", "must be a number"]],
    [{ amountMinor: null }, ["amountMinor", "type", "must be a number"]],
    [{ currencyCode: null }, ["currencyCode", "type", "must be a string"]],
    [{ referenceType: null }, ["referenceType", "required", "is required together with referenceId"]],
    [{ referenceId: null }, ["referenceId", "required", "is required together with referenceType"]],
    [{ currencyCode: "USD" }, ["currencyCode", "currency", "must be EUR, the currency of the invoice, but is USD"]],
    [{ quantity: maxInteger, amountMinor: 2 }, ["quantity", "max", `times amountMinor must be within ±${maxInteger}`]],
    [
      { quantity: 1, amountMinor: maxInteger },
      ["quantity", "max", `would bring the total of the invoice beyond ±${maxInteger}`]
    ],
    [{ lineTotalMinor: 1 }, ["lineTotalMinor", "unknown", "is not a known property"]],
    [{ invoiceId: "inv_a" }, ["invoiceId", "unknown", "is not a known property"]],
    [{ invoice: "inv_a" }, ["invoice", "unknown", "is not a known property"]],
    [
      { currencyCode: "JPY", referenceId: null, quantity: maxInteger },
      ["currencyCode", "currency", "must be EUR, the currency of the invoice, but is JPY"],
      ["referenceId", "required", "is required together with referenceType"],
      ["quantity", "max", `times amountMinor must be within ±${maxInteger}`]
    ]
  ])("rejects the change %j", async (body, ...expectedErrors) => {
    const { change, tenant } = await createDraft()
    const before = await readInvoicingRows(fixture().pool, tenant)
    assertValidationError(await change(body), ...expectedErrors)
    assert.deepStrictEqual(await readInvoicingRows(fixture().pool, tenant), before)
  })

  it("is deleted together with its share of the invoice total", async () => {
    const { call, contractId, id, lines, other, path, read } = await createDraft()
    const removed = await call("DELETE", path)
    assert.deepStrictEqual([removed.status, removed.text], [204, ""])
    assert.deepInclude(await read(id), { subtotalMinor: 10, totalMinor: 10, billableCount: 1 })
    assert.deepStrictEqual(await lines(id), [other])
    for (const [method, body] of [["GET"], ["PATCH", { order: 1 }], ["DELETE"]] as const) {
      assertFailure(await call(method, path, body), 404, notFoundText)
    }
    assert.strictEqual((await call("DELETE", `/billables/${other.id}`)).status, 204)
    assert.deepInclude(await read(id), { subtotalMinor: 0, totalMinor: 0, billableCount: 0 })
    assert.strictEqual(await readBilledMinor(fixture().pool, contractId), 0)
  })

  it("cannot be deleted when the remaining total exceeds the safe integers", async () => {
    const { add, call, draft, tenant } = await createDraft()
    const { id } = await draft()
    const [, less] = await add(
      id,
      { amountMinor: maxInteger },
      { amountMinor: -maxInteger },
      { amountMinor: maxInteger }
    )
    const before = await readInvoicingRows(fixture().pool, tenant)
    assertValidationError(await call("DELETE", `/billables/${less?.id}`), [
      "id",
      "max",
      `would bring the total of the invoice beyond ±${maxInteger}`
    ])
    assert.deepStrictEqual(await readInvoicingRows(fixture().pool, tenant), before)
  })

  it("is changed or deleted only when If-Match names the current version", async () => {
    const { call, path } = await createDraft()
    const etag = (await call("GET", path)).headers.get("etag") ?? ""
    assert.strictEqual((await call("PATCH", path, { order: 9 }, { "if-match": etag })).status, 200)
    assert.strictEqual((await call("PATCH", path, { order: 8 }, { "if-match": etag })).status, 412)
    assert.strictEqual((await call("DELETE", path, undefined, { "if-match": etag })).status, 412)
    const newest = (await call("GET", path)).headers.get("etag") ?? ""
    assert.strictEqual((await call("DELETE", path, undefined, { "if-match": newest })).status, 204)
  })

  it("is counted once in the total under concurrent changes and deletions", async () => {
    const { add, call, contractId, id, lines, read } = await createDraft()
    const created = await add(id, ...Array.from({ length: 10 }, () => ({})))
    const responses = await Promise.all(
      created.flatMap(({ id }, n) => [
        call("PATCH", `/billables/${id}`, { amountMinor: n }),
        call("DELETE", `/billables/${id}`),
        call("PATCH", `/billables/${id}`, { quantity: n })
      ])
    )
    for (const { status, text } of responses) assert.include([200, 204, 404], status, text)
    const left = await lines(id)
    assert.lengthOf(left, 2)
    assert.deepInclude(await read(id), { totalMinor: 3_010, billableCount: 2 })
    assert.strictEqual(await readBilledMinor(fixture().pool, contractId), 3_010)
  })
})

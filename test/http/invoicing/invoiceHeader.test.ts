import { assert, describe, it } from "vitest"
import { assertValidationError, type ExpectedError } from "../../support/assertions/failures.ts"
import { invoiceClient } from "../../support/fixtures/invoices.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { startServiceWithPool } from "../../support/servers/serviceWithPool.ts"

const header = {
  buyerReference: "04011000-1234512345-06",
  purchaseOrder: "PO-4711",
  notes: "First line\nSecond line & <more>",
  serviceFrom: "2026-10-25",
  serviceTo: "2026-10-25",
  deliverToCountry: "FR",
  taxCurrencyCode: "SEK",
  taxCurrencyRate: 11.2345678901
}
const names = Object.keys(header)
const cleared = Object.fromEntries(names.map((name) => [name, null]))

const country = "must be an ISO 3166-1 alpha-2 country code such as DE"
const date = "must be a date such as 2026-11-14"

const invalid: ReadonlyArray<readonly [change: object, ...errors: ReadonlyArray<ExpectedError>]> = [
  [{ buyerReference: "" }, ["buyerReference", "minLength", "must have at least 1 character"]],
  [{ buyerReference: "b".repeat(201) }, ["buyerReference", "maxLength", "must have at most 200 characters"]],
  [{ purchaseOrder: "" }, ["purchaseOrder", "minLength", "must have at least 1 character"]],
  [{ purchaseOrder: "p".repeat(201) }, ["purchaseOrder", "maxLength", "must have at most 200 characters"]],
  [{ notes: "" }, ["notes", "minLength", "must have at least 1 character"]],
  [{ notes: "n".repeat(2001) }, ["notes", "maxLength", "must have at most 2000 characters"]],
  [{ serviceFrom: "2026-02-30" }, ["serviceFrom", "format", date]],
  [{ serviceFrom: "0000-01-01" }, ["serviceFrom", "format", date]],
  [{ serviceTo: "2026-10-25T00:00:00Z" }, ["serviceTo", "format", date]],
  [{ serviceTo: "2026-10-24" }, ["serviceTo", "min", "must not be before serviceFrom, 2026-10-25, but is 2026-10-24"]],
  [{ deliverToCountry: "fr" }, ["deliverToCountry", "format", country]],
  [{ deliverToCountry: "XX" }, ["deliverToCountry", "format", country]],
  [{ taxCurrencyCode: "XXX" }, ["taxCurrencyCode", "currency", "must be an ISO 4217 currency code such as EUR"]],
  [
    { taxCurrencyCode: "EUR" },
    ["taxCurrencyCode", "currency", "must be another currency than that of the invoice, EUR"]
  ],
  [{ taxCurrencyRate: 0 }, ["taxCurrencyRate", "min", "must be greater than 0"]],
  [{ taxCurrencyRate: 1_000_000_001 }, ["taxCurrencyRate", "max", "must be at most 1000000000"]],
  [{ taxCurrencyRate: 0.12345678901 }, ["taxCurrencyRate", "format", "must have at most 10 decimals"]],
  [{ taxCurrencyRate: "11" }, ["taxCurrencyRate", "type", "must be a number"]],
  [
    { serviceTo: "2026-10-01", taxCurrencyCode: "EUR" },
    ["serviceTo", "min", "must not be before serviceFrom, 2026-10-25, but is 2026-10-01"],
    ["taxCurrencyCode", "currency", "must be another currency than that of the invoice, EUR"]
  ]
]

describe("The header of an invoice", () => {
  const fixture = useFixture(startServiceWithPool)
  const createClient = async () => invoiceClient(fixture().service, await fixture().service.newTenant())

  it("is written with POST and PATCH, and read as it was written", async () => {
    const { call, draft, read } = await createClient()
    const created = await draft(header)
    assert.deepInclude(created, header)
    assert.deepStrictEqual(await read(created.id), created)
    const { id } = await draft()
    const patched = await call("PATCH", `/invoices/${id}`, header)
    assert.strictEqual(patched.status, 200, patched.text)
    assert.deepInclude(patched.body.data, header)
    assert.deepStrictEqual(
      (await call("GET", "/invoices?limit=200")).body.data.map(({ notes }: typeof header) => notes),
      [header.notes, header.notes]
    )
  })

  it.each([
    { serviceFrom: "0001-01-01" },
    { serviceTo: "9999-12-31" },
    { taxCurrencyCode: "KWD", taxCurrencyRate: 1e-10 },
    { taxCurrencyCode: "LBP", taxCurrencyRate: 1_000_000_000 },
    { notes: "\u{1F600}".repeat(2000) }
  ])("keeps the extreme %j", async (fields) => {
    const { draft, read } = await createClient()
    const { id } = await draft(fields)
    assert.deepInclude(await read(id), fields)
  })

  it("is left out of an invoice that has none", async () => {
    const { draft } = await createClient()
    const created = await draft()
    for (const name of names) assert.notProperty(created, name)
  })

  it("loses a field by null, one by one and all at once", async () => {
    const { call, draft, read } = await createClient()
    const { id } = await draft(header)
    const path = `/invoices/${id}`
    // The currency and the rate of the tax go only together.
    const single = names.filter((name) => !name.startsWith("taxCurrency"))
    for (const name of single) {
      const { body } = await call("PATCH", path, { [name]: null })
      assert.notProperty(body.data, name)
      assert.deepStrictEqual(await read(id), body.data)
    }
    const { body } = await call("PATCH", path, { taxCurrencyCode: null, taxCurrencyRate: null })
    for (const name of names) assert.notProperty(body.data, name)
    assert.deepInclude((await call("PATCH", path, header)).body.data, header)
    const all = await call("PATCH", path, cleared)
    for (const name of names) assert.notProperty(all.body.data, name)
  })

  it("rejects a tax currency without its rate, and a rate without its currency", async () => {
    const { call, contract, draft } = await createClient()
    const contractId = (await contract()).id
    const missing = (field: string, given: string): ExpectedError => [
      field,
      "required",
      `is required together with ${given}`
    ]
    const { taxCurrencyCode, taxCurrencyRate } = header
    const cases = [
      [{ taxCurrencyCode }, missing("taxCurrencyRate", "taxCurrencyCode")],
      [{ taxCurrencyRate }, missing("taxCurrencyCode", "taxCurrencyRate")]
    ] as const
    for (const [fields, error] of cases) {
      assertValidationError(await call("POST", "/invoices", { contractId, ...fields }), error)
    }
    const { id } = await draft(header)
    assertValidationError(
      await call("PATCH", `/invoices/${id}`, { taxCurrencyRate: null }),
      missing("taxCurrencyRate", "taxCurrencyCode")
    )
  })

  for (const [change, ...errors] of invalid) {
    it(`rejects ${JSON.stringify(change).slice(0, 60)}`, async () => {
      const { call, contract, draft, read } = await createClient()
      const contractId = (await contract()).id
      assertValidationError(await call("POST", "/invoices", { contractId, ...header, ...change }), ...errors)
      const draftBefore = await draft(header)
      assertValidationError(await call("PATCH", `/invoices/${draftBefore.id}`, change), ...errors)
      assert.deepStrictEqual(await read(draftBefore.id), draftBefore)
    })
  }

  it("is frozen from finalize on", async () => {
    const { call, invoiceIn, read, transition } = await createClient()
    const { id } = await invoiceIn("FINALIZED", header)
    assert.deepInclude(await read(id), header)
    for (const change of [...names.map((name) => ({ [name]: null })), { notes: "other" }]) {
      assertValidationError(await call("PATCH", `/invoices/${id}`, change), [
        "status",
        "state",
        "is FINALIZED; only a DRAFT invoice and its billables can be changed or deleted"
      ])
    }
    assert.deepInclude(await transition(id, "pay"), header)
  })

  it("is in the events of the invoice", async () => {
    const { draft, tenant } = await createClient()
    const created = await draft(header)
    const { rows } = await fixture().pool.query<{ data: unknown }>(
      "select data from events where tenant_id = $1 and type = 'invoice.created'",
      [tenant]
    )
    assert.deepStrictEqual(rows, [{ data: created }])
  })
})

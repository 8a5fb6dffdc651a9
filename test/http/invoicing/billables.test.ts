import type pg from "pg"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import {
  assertFailure,
  assertValidationError,
  type ExpectedError,
  notFoundText,
  quotaError
} from "../../support/assertions/failures.ts"
import { invoiceClient, lineOf, readBilledMinor, readInvoicingRows } from "../../support/fixtures/invoices.ts"
import { readPages } from "../../support/fixtures/pages.ts"
import { openPool } from "../../support/servers/database.ts"
import { type Service, startService } from "../../support/servers/service.ts"

const maxInteger = 9007199254740991
const mebibyte = 1024 * 1024
const times = <A>(count: number, make: (index: number) => A) => Array.from({ length: count }, (_, index) => make(index))

describe("POST /billables", () => {
  let service: Service
  let pool: pg.Pool
  let invoices: ReturnType<typeof invoiceClient>
  beforeAll(async () => {
    service = await startService()
    pool = openPool(service.database.url)
    invoices = invoiceClient(service, await service.newTenant())
  })
  afterAll(async () => {
    await pool.end()
    await service.stop()
  })

  /** Asserts that lines are rejected with these errors and that nothing is written. */
  const assertRejected = async (lines: ReadonlyArray<object>, ...expectedErrors: ReadonlyArray<ExpectedError>) => {
    const { add, draft, tenant, tryAdd } = invoices
    const { id } = await draft()
    await add(id, {})
    const before = await readInvoicingRows(pool, tenant)
    assertValidationError(await tryAdd(id, ...lines), ...expectedErrors)
    assert.deepStrictEqual(await readInvoicingRows(pool, tenant), before)
  }

  it("defaults to quantity 1 and the currency of the invoice", async () => {
    const { call, contract, draft } = invoices
    const { id } = await draft({ contractId: (await contract({ currencyCode: "JPY" })).id })
    const response = await call("POST", "/billables", { invoiceId: id, billables: [{ name: "Pump", amountMinor: 7 }] })
    assert.strictEqual(response.status, 201)
    assert.strictEqual(response.headers.get("location"), `/api/v1/billables?invoiceId=${id}`)
    const [{ createdAt, id: lineId, updatedAt, ...rest }] = response.body.data
    assert.match(lineId, /^bil_[0-9a-z]{26}$/)
    assert.strictEqual(createdAt, updatedAt)
    assert.deepStrictEqual(rest, {
      invoice: id,
      name: "Pump",
      quantity: 1,
      amountMinor: 7,
      currencyCode: "JPY",
      taxRates: [],
      discountMinor: 0,
      lineTotalMinor: 7
    })
    const listed = await service.call("GET", response.headers.get("location") ?? "", {
      as: "owner",
      tenant: invoices.tenant
    })
    assert.strictEqual(listed.text, response.text)
  })

  it("stores every field of a line", async () => {
    const { add, call, draft, read } = invoices
    const { id } = await draft()
    const full = {
      name: "Valves",
      quantity: -2.125,
      amountMinor: -1_000,
      currencyCode: "EUR",
      referenceType: "work",
      referenceId: "everything",
      description: 'All "quoted" \u2028 \u{1F600}',
      metadata: { b: "2", a: "", "key with spaces": "\u{1F600}" },
      order: maxInteger
    }
    const [line] = await add(id, full)
    assert.deepInclude(line, { ...full, lineTotalMinor: 2125 })
    assert.deepStrictEqual((await call("GET", `/billables/${line?.id}`)).body.data, line)
    assert.deepInclude(await read(id), { subtotalMinor: 2125, totalMinor: 2125, billableCount: 1 })
  })

  it("stores the metadata key __proto__", async () => {
    const { call, draft } = invoices
    const { id } = await draft()
    const [first, second] = ['{"__proto__":"one","constructor":"two"}', '{"b":"3","__proto__":"four"}']
    const added = await call(
      "POST",
      "/billables",
      `{"invoiceId":"${id}","billables":[{"name":"Line","amountMinor":1,"metadata":${first}}]}`
    )
    assert.strictEqual(added.status, 201, added.text)
    assert.include(added.text, `"metadata":${first}`)
    const path = `/billables/${added.body.data[0].id}`
    assert.include((await call("GET", path)).text, `"metadata":${first}`)
    const changed = await call("PATCH", path, `{"metadata":${second}}`)
    assert.include(changed.text, `"metadata":${second}`)
    assert.include((await call("GET", path)).text, `"metadata":${second}`)
    const rejected = await call("PATCH", path, `{"metadata":{"__proto__":1}}`)
    assertValidationError(rejected, ["metadata.__proto__", "type", "must be a string"])
  })

  it("adds 1000 lines, returns them in order and paginates them", async () => {
    const { add, contract, draft, read, tenant } = invoices
    const { id: contractId } = await contract()
    const { id } = await draft({ contractId })
    const created = await add(id, ...times(1000, (n) => ({ name: `Line ${n}`, amountMinor: n })))
    assert.deepStrictEqual(
      created.map(({ name }) => name),
      times(1000, (n) => `Line ${n}`)
    )
    assert.deepInclude(await read(id), { totalMinor: 499_500, billableCount: 1000 })
    assert.strictEqual(await readBilledMinor(pool, contractId), 499_500)
    const pages = await readPages(service, `/billables?invoiceId=${id}&limit=150`, { as: "owner", tenant })
    assert.deepStrictEqual(
      pages.map(({ length }) => length),
      [150, 150, 150, 150, 150, 150, 100]
    )
    assert.deepStrictEqual(pages.flat(), [...created])
  })

  it("adds lines that GET /billables sorts by order and then by creation", async () => {
    const { add, draft, lines, tenant } = invoices
    const [one, other] = [await draft(), await draft()]
    const orders = [{ order: 5 }, {}, { order: 0 }, {}, { order: 5 }, { order: 1 }]
    const created = await add(one.id, ...orders)
    await add(other.id, ...orders)
    const sortedIds = [2, 5, 0, 4, 1, 3].map((n) => created[n]?.id)
    assert.deepStrictEqual(
      (await lines(one.id)).map(({ id }) => id),
      sortedIds
    )
    const pages = await readPages(service, `/billables?invoiceId=${one.id}&limit=4`, { as: "owner", tenant })
    assert.deepStrictEqual(
      pages.flat().map(({ id }) => id),
      sortedIds
    )
    assert.deepStrictEqual(await lines("inv_none"), [])
  })

  it("accepts 1 to 1000 lines", async () => {
    await assertRejected([], ["billables", "minItems", "must have at least 1 item, but is empty"])
    await assertRejected(
      times(1001, () => ({})),
      ["billables", "maxItems", "must have at most 1000 items"]
    )
  })

  it("adds no line when one is invalid, and reports every error of every line", async () => {
    await assertRejected(
      [
        {},
        { name: "", amountMinor: 1.5, colour: "red" },
        { quantity: "2", order: -1 },
        {},
        { amountMinor: undefined, currencyCode: "XXX" }
      ],
      ["billables[1].colour", "unknown", "is not a known property"],
      ["billables[1].name", "minLength", "must have at least 1 character"],
      ["billables[1].amountMinor", "type", "must be an integer"],
      ["billables[2].quantity", "type", "must be a number"],
      ["billables[2].order", "min", "must be at least 0"],
      ["billables[4].amountMinor", "required", "is required"],
      ["billables[4].currencyCode", "currency", "must be an ISO 4217 currency code such as EUR"]
    )
  })

  it("reports every violated business rule of every line", async () => {
    const bad: Readonly<Record<number, object>> = {
      3: { referenceType: "work" },
      4: { referenceId: "alone" },
      17: { currencyCode: "USD" },
      18: { currencyCode: "JPY", quantity: 2, amountMinor: maxInteger, referenceId: "alone" }
    }
    await assertRejected(
      times(20, (n) => bad[n] ?? {}),
      ["billables[3].referenceId", "required", "is required together with referenceType"],
      ["billables[4].referenceType", "required", "is required together with referenceId"],
      ["billables[17].currencyCode", "currency", "must be EUR, the currency of the invoice, but is USD"],
      ["billables[18].currencyCode", "currency", "must be EUR, the currency of the invoice, but is JPY"],
      ["billables[18].referenceType", "required", "is required together with referenceId"],
      ["billables[18].quantity", "max", `times amountMinor must be within ±${maxInteger}`]
    )
  })

  it("rejects an unknown invoice and an invoice of another tenant", async () => {
    const otherTenant = await invoiceClient(service, await service.newTenant()).draft()
    for (const invoiceId of [otherTenant.id, "inv_none"]) {
      assertFailure(await invoices.tryAdd(invoiceId, {}), 404, notFoundText)
    }
    assertValidationError(await invoices.tryAdd("nonsense", {}), [
      "invoiceId",
      "format",
      "must be an invoice identifier (inv_…)"
    ])
  })

  it("rejects a body larger than 4 MiB", async () => {
    const { call, draft, read } = invoices
    const { id } = await draft()
    const body = JSON.stringify({ invoiceId: id, billables: [lineOf()] })
    const exactly = await call("POST", "/billables", body.padEnd(4 * mebibyte))
    assert.strictEqual(exactly.status, 201)
    assertFailure(
      await call("POST", "/billables", body.padEnd(4 * mebibyte + 1)),
      413,
      `{"error":"PayloadTooLarge","message":"The body may have at most 4194304 bytes"}`
    )
    assert.strictEqual((await read(id)).billableCount, 1)
  })

  describe("rejects a value beyond the limit", () => {
    it("of a line total", async () => {
      const { add, draft } = invoices
      const { id } = await draft()
      const [line] = await add(id, { quantity: 0.999999999999, amountMinor: maxInteger })
      assert.strictEqual(line?.lineTotalMinor, 9007199254731984)
      await assertRejected(
        [{ quantity: 1.000000000001, amountMinor: -maxInteger }],
        ["billables[0].quantity", "max", `times amountMinor must be within ±${maxInteger}`]
      )
    })

    it("of an invoice total", async () => {
      const { add, draft, read, tryAdd } = invoices
      const { id } = await draft()
      const limitError = ["billables", "max", `would bring the total of the invoice beyond ±${maxInteger}`] as const
      await add(id, { amountMinor: maxInteger }, { amountMinor: maxInteger }, { amountMinor: -maxInteger })
      assert.strictEqual((await read(id)).totalMinor, maxInteger)
      assertValidationError(await tryAdd(id, { amountMinor: 1 }), limitError)
      await add(id, { amountMinor: -maxInteger }, { amountMinor: -maxInteger })
      assert.deepInclude(await read(id), { totalMinor: -maxInteger, billableCount: 5 })
      assertValidationError(await tryAdd(id, { amountMinor: -1 }), limitError)
      await add(id, { amountMinor: 0 })
    })

    it("of the number of lines", async () => {
      const { add, draft, read, tryAdd } = invoices
      const { id } = await draft()
      await pool.query("update invoices set billable_count = 9998 where id = $1", [id])
      assertValidationError(await tryAdd(id, {}, {}, {}), quotaError("invoiceLines", 10_000, "billables"))
      await add(id, {}, {})
      assert.strictEqual((await read(id)).billableCount, 10_000)
    })
  })
})

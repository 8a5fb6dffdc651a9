import type pg from "pg"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import {
  assertFailure,
  assertValidationError,
  type ExpectedError,
  notFoundText,
  quotaError
} from "../../support/assertions/failures.ts"
import { billedUnder, invoiceClient, ledgerOf, lineOf } from "../../support/fixtures/invoices.ts"
import { readPages } from "../../support/fixtures/pages.ts"
import { openPool } from "../../support/servers/database.ts"
import { type Service, startService } from "../../support/servers/service.ts"

const most = 9007199254740991
const mebibyte = 1024 * 1024
const times = <A>(count: number, make: (index: number) => A) => Array.from({ length: count }, (_, index) => make(index))

describe("adding lines", () => {
  let service: Service
  let pool: pg.Pool
  let invoicing: ReturnType<typeof invoiceClient>
  beforeAll(async () => {
    service = await startService()
    pool = openPool(service.database.url)
    invoicing = invoiceClient(service, await service.newTenant())
  })
  afterAll(async () => {
    await pool.end()
    await service.stop()
  })

  /** Tries to add lines to a draft of its own, and sees to it that a refusal leaves everything as it was. */
  const refused = async (lines: ReadonlyArray<object>, ...faults: ReadonlyArray<ExpectedError>) => {
    const { add, draft, tenant, tryAdd } = invoicing
    const { id } = await draft()
    await add(id, {})
    const before = await ledgerOf(pool, tenant)
    assertValidationError(await tryAdd(id, ...lines), ...faults)
    assert.deepStrictEqual(await ledgerOf(pool, tenant), before)
  }

  it("makes each of one piece, in the invoice's currency, unless it says otherwise", async () => {
    const { call, contract, draft } = invoicing
    const { id } = await draft({ contractId: (await contract({ currencyCode: "JPY" })).id })
    const answer = await call("POST", "/billables", { invoiceId: id, billables: [{ name: "Pump", amountMinor: 7 }] })
    assert.strictEqual(answer.status, 201)
    assert.strictEqual(answer.headers.get("location"), `/api/v1/billables?invoiceId=${id}`)
    const [{ createdAt, id: lineId, updatedAt, ...rest }] = answer.body.data
    assert.match(lineId, /^bil_[0-9a-z]{26}$/)
    assert.strictEqual(createdAt, updatedAt)
    assert.deepStrictEqual(rest, {
      invoice: id,
      name: "Pump",
      quantity: 1,
      amountMinor: 7,
      currencyCode: "JPY",
      lineTotalMinor: 7
    })
    const listed = await service.call("GET", answer.headers.get("location") ?? "", {
      as: "owner",
      tenant: invoicing.tenant
    })
    assert.strictEqual(listed.text, answer.text)
  })

  it("keeps everything a line says of itself", async () => {
    const { add, call, draft, read } = invoicing
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
      order: most
    }
    const [line] = await add(id, full)
    assert.deepInclude(line, { ...full, lineTotalMinor: 2125 })
    assert.deepStrictEqual((await call("GET", `/billables/${line?.id}`)).body.data, line)
    assert.deepInclude(await read(id), { subtotalMinor: 2125, totalMinor: 2125, billableCount: 1 })
  })

  it("keeps a metadata key that is called __proto__, added and changed", async () => {
    const { call, draft } = invoicing
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
    const faulty = await call("PATCH", path, `{"metadata":{"__proto__":1}}`)
    assertValidationError(faulty, ["metadata.__proto__", "type", "must be a string"])
  })

  it("takes a thousand at once, answers in their order and lists them page by page", async () => {
    const { add, contract, draft, read, tenant } = invoicing
    const { id: contractId } = await contract()
    const { id } = await draft({ contractId })
    const made = await add(id, ...times(1000, (n) => ({ name: `Line ${n}`, amountMinor: n })))
    assert.deepStrictEqual(
      made.map(({ name }) => name),
      times(1000, (n) => `Line ${n}`)
    )
    assert.deepInclude(await read(id), { totalMinor: 499_500, billableCount: 1000 })
    assert.strictEqual(await billedUnder(pool, contractId), 499_500)
    const pages = await readPages(service, `/billables?invoiceId=${id}&limit=150`, { as: "owner", tenant })
    assert.deepStrictEqual(
      pages.map(({ length }) => length),
      [150, 150, 150, 150, 150, 150, 100]
    )
    assert.deepStrictEqual(pages.flat(), [...made])
  })

  it("lists lines by their order, and otherwise as they were added", async () => {
    const { add, draft, lines, tenant } = invoicing
    const [one, other] = [await draft(), await draft()]
    const orders = [{ order: 5 }, {}, { order: 0 }, {}, { order: 5 }, { order: 1 }]
    const made = await add(one.id, ...orders)
    await add(other.id, ...orders)
    const names = [2, 5, 0, 4, 1, 3].map((n) => made[n]?.id)
    assert.deepStrictEqual(
      (await lines(one.id)).map(({ id }) => id),
      names
    )
    const pages = await readPages(service, `/billables?invoiceId=${one.id}&limit=4`, { as: "owner", tenant })
    assert.deepStrictEqual(
      pages.flat().map(({ id }) => id),
      names
    )
    assert.deepStrictEqual(await lines("inv_none"), [])
  })

  it("takes no fewer than one and no more than a thousand", async () => {
    await refused([], ["billables", "minItems", "must have at least 1 item"])
    await refused(
      times(1001, () => ({})),
      ["billables", "maxItems", "must have at most 1000 items"]
    )
  })

  it("adds all of them or none, and tells every fault of every line", async () => {
    await refused(
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

  it("tells of what the business objects to in each line", async () => {
    const bad: Readonly<Record<number, object>> = {
      3: { referenceType: "work" },
      4: { referenceId: "alone" },
      17: { currencyCode: "USD" },
      18: { currencyCode: "JPY", quantity: 2, amountMinor: most, referenceId: "alone" }
    }
    await refused(
      times(20, (n) => bad[n] ?? {}),
      ["billables[3].referenceId", "required", "referenceType and referenceId come together"],
      ["billables[4].referenceType", "required", "referenceType and referenceId come together"],
      ["billables[17].currencyCode", "currency", "must be the invoice's, EUR"],
      ["billables[18].currencyCode", "currency", "must be the invoice's, EUR"],
      ["billables[18].referenceType", "required", "referenceType and referenceId come together"],
      ["billables[18].quantity", "max", `times amountMinor must stay within ±${most}`]
    )
  })

  it("adds to no invoice that is not there or another tenant's", async () => {
    const elsewhere = await invoiceClient(service, await service.newTenant()).draft()
    for (const invoiceId of [elsewhere.id, "inv_none"]) {
      assertFailure(await invoicing.tryAdd(invoiceId, {}), 404, notFoundText)
    }
    assertValidationError(await invoicing.tryAdd("nonsense", {}), [
      "invoiceId",
      "format",
      "must be an invoice identifier (inv_…)"
    ])
  })

  it("takes bodies of four mebibytes and not a byte more", async () => {
    const { call, draft, read } = invoicing
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

  describe("stays within what can be told exactly", () => {
    it("for a line", async () => {
      const { add, draft } = invoicing
      const { id } = await draft()
      const [line] = await add(id, { quantity: 0.999999999999, amountMinor: most })
      assert.strictEqual(line?.lineTotalMinor, 9007199254731984)
      await refused(
        [{ quantity: 1.000000000001, amountMinor: -most }],
        ["billables[0].quantity", "max", `times amountMinor must stay within ±${most}`]
      )
    })

    it("for an invoice, counted exactly", async () => {
      const { add, draft, read, tryAdd } = invoicing
      const { id } = await draft()
      const beyond = ["billables", "max", `would take the total beyond ±${most}`] as const
      await add(id, { amountMinor: most }, { amountMinor: most }, { amountMinor: -most })
      assert.strictEqual((await read(id)).totalMinor, most)
      assertValidationError(await tryAdd(id, { amountMinor: 1 }), beyond)
      await add(id, { amountMinor: -most }, { amountMinor: -most })
      assert.deepInclude(await read(id), { totalMinor: -most, billableCount: 5 })
      assertValidationError(await tryAdd(id, { amountMinor: -1 }), beyond)
      await add(id, { amountMinor: 0 })
    })

    it("for the number of lines", async () => {
      const { add, draft, read, tryAdd } = invoicing
      const { id } = await draft()
      await pool.query("update invoices set billable_count = 9998 where id = $1", [id])
      assertValidationError(await tryAdd(id, {}, {}, {}), quotaError("invoiceLines", 10_000, "billables"))
      await add(id, {}, {})
      assert.strictEqual((await read(id)).billableCount, 10_000)
    })
  })
})

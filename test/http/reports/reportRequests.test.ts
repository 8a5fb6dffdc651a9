import { parse } from "csv-parse/sync"
import type pg from "pg"
import { assert, beforeAll, describe, it, vi } from "vitest"
import { addDays, localDateOf, startOfLocalDay } from "../../../src/domain/locale/TimeZone.ts"
import { maxStatementEntries } from "../../../src/domain/reports/Statement.ts"
import { assertValidationError } from "../../support/assertions/failures.ts"
import { readPdf, textsOf } from "../../support/assertions/pdfText.ts"
import { withoutTriggers } from "../../support/fixtures/journalHistory.ts"
import { readPages } from "../../support/fixtures/pages.ts"
import { startPayer } from "../../support/fixtures/payments.ts"
import { taxRateMaker } from "../../support/fixtures/taxRates.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { startServiceWithPool } from "../../support/servers/serviceWithPool.ts"

type Payer = Awaited<ReturnType<typeof startPayer>>

/** Books payments of 1 that no table has, one every minute from a moment on. */
const insertPayments = (pool: pg.Pool, { client, tenant }: Payer, from: string, count: number) =>
  withoutTriggers(pool, (connection) =>
    connection.query(
      `insert into journal_entries (tenant_id, kind, booked_at, client_id, currency_code, invoice_minor, payment_id,
         credit_minor, payment_place, unused_minor)
       select $1, 'PAYMENT', $3::timestamptz + n * interval '1 minute', $2, 'EUR', 0, 'pay_' || n, 1, 1, 1
       from generate_series(0, $4::int - 1) n`,
      [tenant, client, from, count]
    )
  )

/** Counts how often work lets the event loop go on. */
const countTurns = () => {
  let turns = 0
  const original = setImmediate
  const spy = vi.spyOn(globalThis, "setImmediate").mockImplementation((callback, ...args) => {
    if (new Error().stack?.includes("EventLoop.ts")) turns++
    return original(callback, ...args)
  })
  return {
    stop: () => {
      spy.mockRestore()
      return turns
    }
  }
}

describe("Requests for reports", () => {
  const fixture = useFixture(startServiceWithPool)
  const newPayer = async () => startPayer(fixture().service, await fixture().service.newTenant())
  let token: string
  beforeAll(async () => {
    token = await fixture().service.token("owner")
  })

  const download = async ({ tenant }: Payer, path: string, accept = "*/*") => {
    const response = await fetch(`${fixture().service.url}/api/v1${path}`, {
      headers: { authorization: `Bearer ${token}`, "tenant-id": tenant, accept }
    })
    assert.strictEqual(response.status, 200, path)
    return { headers: response.headers, bytes: new Uint8Array(await response.arrayBuffer()) }
  }
  const readCsv = async (payer: Payer, path: string): Promise<ReadonlyArray<Record<string, string>>> =>
    parse(Buffer.from((await download(payer, path, "text/csv")).bytes), { columns: true })

  const moveBookings = (tenant: string, at: string) =>
    withoutTriggers(fixture().pool, (connection) =>
      connection.query("update journal_entries set booked_at = $2 where tenant_id = $1", [tenant, at])
    )

  it("without days get the statement of the month so far, without allocations", async () => {
    const payer = await newPayer()
    const invoice = await payer.newInvoice(1000)
    const { id } = await payer.pay(700, [[invoice.id, 600]], { reference: "Transfer 7" })
    const { currencies, from, to } = await payer.get<{
      from: string
      to: string
      currencies: ReadonlyArray<{ openingMinor: number; closingMinor: number; entries: ReadonlyArray<object> }>
    }>(`/clients/${payer.client}/statement`)
    assert.strictEqual(to, localDateOf(new Date().toISOString(), "UTC"))
    assert.strictEqual(from, `${to.slice(0, 7)}-01`)
    assert.lengthOf(currencies, 1)
    assert.deepInclude(currencies[0], { openingMinor: 0, closingMinor: 300 })
    const [first, second, ...rest] = currencies[0]?.entries ?? []
    assert.deepInclude(first, { kind: "INVOICE", invoice: invoice.id, amountMinor: 1000, balanceMinor: 1000 })
    assert.deepInclude(first, { documentNumber: invoice["invoiceNumber"] })
    assert.deepInclude(second, { kind: "PAYMENT", payment: id, documentNumber: "Transfer 7" })
    assert.deepInclude(second, { amountMinor: -700, balanceMinor: 300 })
    assert.deepStrictEqual(rest, [])
  })

  it("get a statement as CSV with its opening and closing balances", async () => {
    const payer = await newPayer()
    await payer.newInvoice(1000)
    await payer.pay(700)
    const path = `/clients/${payer.client}/statement`
    const { headers } = await download(payer, path, "text/csv")
    assert.strictEqual(headers.get("content-type"), "text/csv; charset=utf-8; header=present")
    assert.strictEqual(headers.get("content-disposition"), 'attachment; filename="statement.csv"')
    const rows = await readCsv(payer, path)
    assert.deepStrictEqual(
      rows.map(({ amountMinor, balanceMinor, currencyCode, kind }) => [currencyCode, kind, amountMinor, balanceMinor]),
      [
        ["EUR", "OPENING", "", "0"],
        ["EUR", "INVOICE", "1000", "1000"],
        ["EUR", "PAYMENT", "-700", "300"],
        ["EUR", "CLOSING", "", "300"]
      ]
    )
  })

  it("work on a long statement in turns with other requests, between all steps", async () => {
    const payer = await newPayer()
    await insertPayments(fixture().pool, payer, "2024-02-01T00:00:00Z", 1000)
    const path = `/clients/${payer.client}/statement?from=2024-02-01&to=2024-02-29`
    const turns = countTurns()
    await download(payer, path, "text/csv")
    // After reading the rows, before and after computing the balances, and after encoding them.
    assert.strictEqual(turns.stop(), 4)
  })

  it("get a statement as PDF, short or of many pages", { timeout: 120_000 }, async () => {
    const payer = await newPayer()
    const { invoiceNumber } = await payer.newInvoice(123_456)
    const textOf = async (path: string) => {
      const { bytes, headers } = await download(payer, path)
      assert.strictEqual(headers.get("content-type"), "application/pdf")
      const { pages } = await readPdf(bytes)
      return { pages, text: pages.flatMap(textsOf).join(" ") }
    }
    const short = await textOf(`/clients/${payer.client}/statement/pdf`)
    assert.lengthOf(short.pages, 1)
    for (const part of ["STATEMENT", "Opening balance", `Invoice ${invoiceNumber}`, "1,234.56", "Closing balance"])
      assert.include(short.text, part)
    await insertPayments(fixture().pool, payer, "2024-02-01T00:00:00Z", 400)
    const long = await textOf(`/clients/${payer.client}/statement/pdf?from=2024-02-01&to=2024-02-29`)
    assert.isAbove(long.pages.length, 5)
    assert.include(long.text, "-4.00")
    const empty = await textOf(`/clients/${payer.client}/statement/pdf?from=2020-01-01&to=2020-01-31`)
    assert.include(empty.text, "Nothing was booked")
  })

  it("are rejected when the period has too many entries, and succeed for a shorter one", async () => {
    const payer = await newPayer()
    await insertPayments(fixture().pool, payer, "2024-02-01T00:00:00Z", maxStatementEntries + 1)
    const pathOf = (from: string) => `/clients/${payer.client}/statement?from=${from}&to=2024-12-31`
    assertValidationError(await payer.call("GET", pathOf("2024-02-01")), [
      "from",
      "maxItems",
      `starts a period with more than ${maxStatementEntries} entries: "2024-02-01" is too early`
    ])
    const { currencies } = await payer.get<{ currencies: ReadonlyArray<object> }>(pathOf("2024-02-02"))
    assert.deepInclude(currencies[0], { openingMinor: -1440, closingMinor: -maxStatementEntries - 1 })
  })

  it("are rejected for days that do not exist, are out of order or in the future", async () => {
    const payer = await newPayer()
    const statement = `/clients/${payer.client}/statement`
    const rejected = async (path: string, ...details: ReadonlyArray<readonly [string, string]>) => {
      const { body, status } = await payer.call("GET", path)
      assert.strictEqual(status, 400, path)
      const found = body.details.map(({ constraint, field }: Record<string, string>) => [field, constraint])
      assert.deepStrictEqual(found, details, path)
    }
    await rejected(`${statement}?from=2026-02-30&to=0001-01-01`, ["from", "format"], ["to", "min"])
    await rejected("/reports/revenue?from=9999-01-01&by=client", ["from", "max"], ["by", "enum"])
    await rejected("/reports/tax?from=2026-02-02&to=2026-02-01", ["from", "max"])
    await rejected("/reports/revenue/clients?from=2006-02-02&to=2026-02-02", ["to", "max"])
    await rejected(`${statement}/pdf?from=2026-02-02&to=2026-02-01`, ["from", "max"])
    const tomorrow = addDays(localDateOf(new Date().toISOString(), "UTC"), 2)
    await rejected(`/reports/aging?asOf=${tomorrow}`, ["asOf", "max"])
    await rejected(`/reports/aging/totals?asOf=${tomorrow}`, ["asOf", "max"])
    await rejected("/reports/aging?cursor=abc", ["cursor", "format"])
  })

  it("accept the first and the last day that there can be", async () => {
    const payer = await newPayer()
    assert.deepStrictEqual(await payer.get("/reports/revenue?from=2990-01-01&to=2999-12-31&by=month"), [])
    assert.deepStrictEqual(await payer.get("/reports/aging?asOf=1970-01-01"), [])
    assert.deepStrictEqual(await payer.get("/reports/tax?from=1970-01-01&to=1970-01-01"), [])
  })

  it("count days in the time zone of the tenant", async () => {
    const payer = await newPayer()
    await payer.newInvoice(1000)
    await moveBookings(payer.tenant, "2024-03-31T22:30:00Z")
    const revenueOf = (day: string) =>
      payer.get<ReadonlyArray<object>>(`/reports/revenue?from=${day}&to=${day}&by=month`)
    assert.deepStrictEqual(await revenueOf("2024-04-01"), [])
    assert.deepInclude((await revenueOf("2024-03-31"))[0], { month: "2024-03", netMinor: 1000 })
    const { service } = fixture()
    await service.api("PATCH", `/tenants/${payer.tenant}`, { as: "owner", body: { timeZone: "Europe/Berlin" } })
    assert.deepStrictEqual(await revenueOf("2024-03-31"), [])
    assert.deepInclude((await revenueOf("2024-04-01"))[0], { month: "2024-04", netMinor: 1000 })
    assert.deepStrictEqual(await payer.get("/reports/aging?asOf=2024-03-31"), [])
    assert.lengthOf(await payer.get<ReadonlyArray<object>>("/reports/aging?asOf=2024-04-01"), 1)
  })

  it("count invoices and credit notes from the first to the last millisecond of a period", async () => {
    const payer = await newPayer()
    const { id } = await payer.draft({ contractId: payer.contractId })
    const [line] = await payer.add(id, { amountMinor: 1000 })
    await payer.transition(id, "finalize")
    const note = await payer.draftNote(id, { lines: [{ billableId: line?.id, amountMinor: 100 }] })
    await payer.finalizeNote(note.id)
    const revenueOf = (from: string, to: string) =>
      payer.get<ReadonlyArray<object>>(`/reports/revenue?from=${from}&to=${to}&by=month`)
    for (const at of ["2024-03-01T00:00:00Z", "2024-03-31T23:59:59.999Z"]) {
      await moveBookings(payer.tenant, at)
      for (const to of ["2024-03-31", "2024-04-30"]) {
        const months = await revenueOf("2024-03-01", to)
        assert.lengthOf(months, 1)
        assert.deepInclude(months[0], { month: "2024-03", netMinor: 900 }, at)
      }
    }
    for (const at of ["2024-02-29T23:59:59.999Z", "2024-04-01T00:00:00Z"]) {
      await moveBookings(payer.tenant, at)
      assert.deepStrictEqual(await revenueOf("2024-03-01", "2024-03-31"), [], at)
    }
  })

  it("sum taxes of one category and percentage, and other taxes by name", async () => {
    const payer = await newPayer()
    const { createTaxRate } = taxRateMaker(fixture().service, payer.tenant)
    const rates = [
      { name: "VAT", percent: 19, category: "S" },
      { name: "Value added tax", percent: 19, category: "S" },
      { name: "City tax", percent: 2.5 },
      { name: "Tourist tax", percent: 2.5 }
    ]
    for (const rate of rates) {
      const { id: taxRate } = await createTaxRate(rate)
      const { id } = await payer.draft({ contractId: payer.contractId })
      await payer.add(id, { amountMinor: 1000, taxRateIds: [taxRate] })
      await payer.transition(id, "finalize")
    }
    const sums = await payer.get<ReadonlyArray<Record<string, unknown>>>("/reports/tax")
    assert.sameDeepMembers(
      sums.map(({ baseMinor, category, name }) => ({ baseMinor, category, name })),
      [
        { baseMinor: 2000, category: "S", name: "VAT" },
        { baseMinor: 1000, category: undefined, name: "City tax" },
        { baseMinor: 1000, category: undefined, name: "Tourist tax" }
      ]
    )
  })

  it("count an invoice as overdue from the day after its due date, to the millisecond", async () => {
    const payer = await newPayer()
    const { pool, service } = fixture()
    const timeZone = "Asia/Kolkata"
    await service.api("PATCH", `/tenants/${payer.tenant}`, { as: "owner", body: { timeZone } })
    const asOf = localDateOf(new Date().toISOString(), timeZone)
    const lastMillisecond = (daysAgo: number) =>
      new Date(Date.parse(startOfLocalDay(addDays(asOf, 1 - daysAgo), timeZone)) - 1).toISOString()
    for (const [index, daysAgo] of [0, 1, 30, 31, 60, 61, 90, 91].entries()) {
      const { id } = await payer.newInvoice(10 ** index)
      // The youngest of a bucket is due at the end of its day, the oldest at the start.
      const dueAt = index % 2 === 1 ? lastMillisecond(daysAgo) : startOfLocalDay(addDays(asOf, -daysAgo), timeZone)
      await withoutTriggers(pool, (connection) =>
        connection.query("update invoices set due_at = $2 where id = $1", [id, dueAt])
      )
    }
    const [totals] = await payer.get<ReadonlyArray<object>>(`/reports/aging/totals?asOf=${asOf}`)
    assert.deepInclude(totals, {
      notDueMinor: 1,
      days1To30Minor: 110,
      days31To60Minor: 11_000,
      days61To90Minor: 1_100_000,
      over90Minor: 10_000_000
    })
  })

  it("list clients in pages, and all of them as CSV", { timeout: 120_000 }, async () => {
    const { service } = fixture()
    const tenant = await service.newTenant()
    const payers: Array<Payer> = []
    for (let n = 0; n < 4; n++) payers.push(await startPayer(service, tenant, n === 1 ? "USD" : "EUR"))
    for (const payer of payers) await payer.newInvoice(1000)
    const [first] = payers
    if (first === undefined) return
    const second = (await first.contract({ clientId: first.client, currencyCode: "CHF" })).id
    const { id } = await first.draft({ contractId: second })
    await first.add(id, { amountMinor: 5 })
    await first.transition(id, "finalize")
    for (const path of ["/reports/aging", "/reports/revenue/clients"]) {
      const whole = await first.get<ReadonlyArray<{ client: string; currencyCode: string }>>(path)
      const expected = payers.flatMap(({ client }, index) =>
        index === 0 ? [`${client} CHF`, `${client} EUR`] : [`${client} ${index === 1 ? "USD" : "EUR"}`]
      )
      assert.deepStrictEqual(
        whole.map(({ client, currencyCode }) => `${client} ${currencyCode}`),
        expected.sort()
      )
      for (const limit of [1, 2, 4]) {
        const pages = await readPages(service, `${path}?limit=${limit}`, { as: "owner", tenant })
        assert.lengthOf(pages, Math.ceil(5 / limit))
        assert.deepStrictEqual(pages.flat(), whole as ReadonlyArray<object>)
      }
      const csv = await readCsv(first, path)
      assert.deepStrictEqual(
        csv.map(({ client, currencyCode }) => `${client} ${currencyCode}`),
        expected
      )
    }
    assert.deepStrictEqual(
      (await readCsv(first, "/reports/aging/totals")).map(({ currencyCode, openMinor }) => [currencyCode, openMinor]),
      [
        ["CHF", "5"],
        ["EUR", "3000"],
        ["USD", "1000"]
      ]
    )
  })
})

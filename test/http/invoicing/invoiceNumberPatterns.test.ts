import { assert, describe, it } from "vitest"
import {
  assertFailure,
  assertValidationError,
  type ExpectedError,
  forbiddenText
} from "../../support/assertions/failures.ts"
import { makeInvoiceSeries } from "../../support/fixtures/invoiceSeries.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { startServiceWithPool } from "../../support/servers/serviceWithPool.ts"

const badPattern: ExpectedError = [
  "pattern",
  "pattern",
  "must hold {seq}, or {seq:1} to {seq:20}, once, {year} if numbers begin anew each year, and no other braces"
]

describe("patterns of invoice numbers", () => {
  const at = useFixture(startServiceWithPool)

  /** As if an invoice had been issued in the tenant then. */
  const lastIssued = (tenant: string, moment: string) =>
    at().pool.query("update invoice_series set last_issued = $2 where tenant_id = $1", [tenant, moment])

  describe("make numbers that", () => {
    const looks: Readonly<Record<string, (year: string) => string>> = {
      "{seq}": () => "1",
      "{seq:1}": () => "1",
      "{seq:6}": () => "000001",
      "{seq:12}": () => "000000000001",
      "{year}{seq}": (year) => `${year}1`,
      "{seq:2}/{year}": (year) => `01/${year}`,
      "{year}-{year}-{seq:2}": (year) => `${year}-${year}-01`,
      "Faktura №{seq:3} $& 😀": () => "Faktura №001 $& 😀"
    }
    for (const [pattern, look] of Object.entries(looks)) {
      it(`look as ${pattern} says`, async () => {
        const { next, using } = await makeInvoiceSeries(at().service)
        await using(pattern)
        const { invoiceNumber, issuedAt } = await next()
        assert.strictEqual(invoiceNumber, look(issuedAt.slice(0, 4)))
      })
    }

    it("grow beyond the width they are filled up to", async () => {
      const { numbers, using } = await makeInvoiceSeries(at().service)
      await using("{seq:1}")
      assert.deepStrictEqual((await numbers(10)).slice(-2), ["9", "10"])
    })

    it("are as long as the longest pattern makes them, and their invoice shows them whole", async () => {
      const { next, using } = await makeInvoiceSeries(at().service)
      await using(`${"N".repeat(51)}{seq:20}`)
      assert.strictEqual((await next()).invoiceNumber, `${"N".repeat(51)}${"1".padStart(20, "0")}`)
    })

    it("look otherwise from the next one on, and the count goes on", async () => {
      const { next, numbers, series, using } = await makeInvoiceSeries(at().service)
      const first = await next()
      const year = first.issuedAt.slice(0, 4)
      await using("{year}/{seq:2}")
      assert.deepStrictEqual(await numbers(2), [`${year}/02`, `${year}/03`])
      assert.deepStrictEqual((await series()).periods, [
        { period: year, first: first.invoiceNumber, last: `${year}/03`, count: 3, voids: 0, gaps: [] }
      ])
    })

    it("have one count for each year and one for all time, and each goes on where it was", async () => {
      const { next, numbers, series, using } = await makeInvoiceSeries(at().service)
      await using("A-{seq}")
      assert.deepStrictEqual(await numbers(2), ["A-1", "A-2"])
      await using("Y{year}-{seq}")
      const { invoiceNumber, issuedAt } = await next()
      const year = issuedAt.slice(0, 4)
      assert.strictEqual(invoiceNumber, `Y${year}-1`)
      await using("B-{seq}")
      assert.deepStrictEqual(await numbers(1), ["B-3"])
      await using("Y{year}-{seq}")
      assert.deepStrictEqual(await numbers(1), [`Y${year}-2`])
      assert.deepStrictEqual((await series()).periods, [
        { period: year, first: `Y${year}-1`, last: `Y${year}-2`, count: 2, voids: 0, gaps: [] },
        { period: "all", first: "A-1", last: "B-3", count: 3, voids: 0, gaps: [] }
      ])
    })

    it("have no gap while the pattern changes", async () => {
      const staged = await makeInvoiceSeries(at().service)
      await staged.using("A-{seq:2}")
      const ids = await staged.drafts(20)
      const [issued] = await Promise.all([
        Promise.all(ids.map(staged.issue)),
        ...Array.from({ length: 10 }, (_, index) => staged.use(index % 2 === 0 ? "B-{seq:2}" : "A-{seq:2}"))
      ])
      assert.deepStrictEqual(
        issued.map(({ invoiceNumber }) => Number(invoiceNumber.slice(2))).sort((one, other) => one - other),
        ids.map((_, index) => index + 1)
      )
      assert.deepInclude((await staged.series()).periods[0], { count: 20, gaps: [] })
    })

    it("count from 1 again in a new year, and the old year stays as it was", async () => {
      const { next, numbers, series, tenant } = await makeInvoiceSeries(at().service)
      const { invoiceNumber, issuedAt } = await next()
      const year = issuedAt.slice(0, 4)
      const following = String(Number(year) + 1)
      await lastIssued(tenant, `${following}-01-01T00:00:00.000Z`)
      assert.deepStrictEqual(await numbers(2), [`INV-${following}-000001`, `INV-${following}-000002`])
      assert.deepStrictEqual((await series()).periods, [
        { period: year, first: invoiceNumber, last: invoiceNumber, count: 1, voids: 0, gaps: [] },
        {
          period: following,
          first: `INV-${following}-000001`,
          last: `INV-${following}-000002`,
          count: 2,
          voids: 0,
          gaps: []
        }
      ])
    })

    it("count on in a new year where the pattern does not show it", async () => {
      const { next, numbers, tenant, using } = await makeInvoiceSeries(at().service)
      await using("N-{seq}")
      const year = Number((await next()).issuedAt.slice(0, 4))
      await lastIssued(tenant, `${year + 1}-01-01T00:00:00.000Z`)
      assert.deepStrictEqual(await numbers(1), ["N-2"])
    })
  })

  describe("that are none", () => {
    const faults: ReadonlyArray<readonly [pattern: unknown, ExpectedError]> = [
      ["INV-{year}", badPattern],
      ["{seq}{seq}", badPattern],
      ["{seq}-{seq:6}", badPattern],
      ["{seq}-{month}", badPattern],
      ["{seq}-{", badPattern],
      ["{seq}-}", badPattern],
      ["{{seq}}", badPattern],
      ["{seq:}-1", badPattern],
      ["{seq:-1}", badPattern],
      ["{seq:0}", badPattern],
      ["{seq:06}", badPattern],
      ["{seq:21}", badPattern],
      ["{seq:100}", badPattern],
      ["{SEQ}-1", badPattern],
      ["{year:4}-{seq}", badPattern],
      ["{seq", ["pattern", "minLength", "must have at least 5 characters"]],
      [`${"N".repeat(56)}{seq}`, ["pattern", "maxLength", "must have at most 60 characters"]],
      ["{seq}\u0000", ["pattern", "pattern", "must not contain NUL or unpaired surrogates"]],
      [1, ["pattern", "type", "must be a string"]],
      [null, ["pattern", "type", "must be a string"]],
      [undefined, ["pattern", "required", "is required"]]
    ]
    for (const [pattern, fault] of faults) {
      it(`are refused, such as ${JSON.stringify(pattern)}`, async () => {
        const { numbers, series, use, using } = await makeInvoiceSeries(at().service)
        await using("N-{seq}")
        assertValidationError(await use(pattern), fault)
        assert.strictEqual((await series()).pattern, "N-{seq}")
        assert.deepStrictEqual(await numbers(1), ["N-1"])
      })
    }
  })

  it("are told of as invoice_series.updated when they change, with the series as it was answered", async () => {
    const { numbers, tenant, use, using } = await makeInvoiceSeries(at().service)
    await numbers(2)
    const answers = [await use("A-{seq}"), await use("B-{seq}")]
    await using("C-{seq}")
    assert.strictEqual((await use("{nothing}")).status, 400)
    const { rows } = await at().pool.query(
      `select resource_id, sequence, client_id, data::text as text from events
       where tenant_id = $1 and type = 'invoice_series.updated' order by sequence`,
      [tenant]
    )
    assert.deepStrictEqual(
      rows.map(({ client_id, sequence }) => [sequence, client_id]),
      [1, 2, 3].map((n) => [n, null])
    )
    assert.lengthOf(new Set(rows.map(({ resource_id }) => resource_id)), 1)
    assert.deepStrictEqual(
      rows.slice(0, 2).map(({ text }) => `{"data":${text}}`),
      answers.map(({ text }) => text)
    )
    const elsewhere = await makeInvoiceSeries(at().service)
    await elsewhere.using("D-{seq}")
    const { rows: others } = await at().pool.query(
      "select resource_id from events where tenant_id = $1 and type = 'invoice_series.updated'",
      [elsewhere.tenant]
    )
    assert.notStrictEqual(others[0].resource_id, rows[0].resource_id)
  })

  it("are counted without a gap when several change them at once", async () => {
    const { tenant, use } = await makeInvoiceSeries(at().service)
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => use(`${n}-{seq}`)))
    assert.deepStrictEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
    const { rows } = await at().pool.query(
      "select sequence, data from events where tenant_id = $1 and type = 'invoice_series.updated' order by sequence",
      [tenant]
    )
    assert.deepStrictEqual(
      rows.map(({ sequence }) => sequence),
      Array.from({ length: 20 }, (_, n) => n + 1)
    )
    const { rows: series } = await at().pool.query("select pattern from invoice_series where tenant_id = $1", [tenant])
    assert.strictEqual(rows.at(-1).data.pattern, series[0].pattern)
  })

  it("are shown to every member, and look as an ADMIN says", async () => {
    const { call, series } = await makeInvoiceSeries(at().service)
    for (const [role, mayChange] of Object.entries({ VIEWER: false, MEMBER: false, ADMIN: true })) {
      const as = role.toLowerCase()
      assert.strictEqual((await call("POST", "/members", { body: { subject: as, role } })).status, 201)
      const before = await series()
      assert.deepStrictEqual((await call("GET", "/invoice-series", { as })).body.data, before)
      const pattern = `${role}-{seq}`
      const answer = await call("PATCH", "/invoice-series", { as, body: { pattern } })
      if (mayChange) assert.deepStrictEqual([answer.status, answer.body.data], [200, { ...before, pattern }])
      else assertFailure(answer, 403, forbiddenText)
      assert.strictEqual((await series()).pattern, mayChange ? pattern : before.pattern)
    }
  })
})

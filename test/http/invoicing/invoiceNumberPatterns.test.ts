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
  "must contain {seq} or {seq:1} to {seq:20} once, {year} if numbers restart every year, and no other braces"
]

describe("The pattern of invoice numbers", () => {
  const fixture = useFixture(startServiceWithPool)

  /** Sets when the last invoice of a tenant was issued. */
  const setLastIssued = (tenant: string, moment: string) =>
    fixture().pool.query("update invoice_series set last_issued = $2 where tenant_id = $1", [tenant, moment])

  describe("produces numbers that", () => {
    const examples: Readonly<Record<string, (year: string) => string>> = {
      "{seq}": () => "1",
      "{seq:1}": () => "1",
      "{seq:6}": () => "000001",
      "{seq:12}": () => "000000000001",
      "{year}{seq}": (year) => `${year}1`,
      "{seq:2}/{year}": (year) => `01/${year}`,
      "{year}-{year}-{seq:2}": (year) => `${year}-${year}-01`,
      "Faktura №{seq:3} $& 😀": () => "Faktura №001 $& 😀"
    }
    for (const [pattern, format] of Object.entries(examples)) {
      it(`are formatted as ${pattern}`, async () => {
        const { issueNext, setPattern } = await makeInvoiceSeries(fixture().service)
        await setPattern(pattern)
        const { invoiceNumber, issuedAt } = await issueNext()
        assert.strictEqual(invoiceNumber, format(issuedAt.slice(0, 4)))
      })
    }

    it("grow beyond their minimum width", async () => {
      const { issueNumbers, setPattern } = await makeInvoiceSeries(fixture().service)
      await setPattern("{seq:1}")
      assert.deepStrictEqual((await issueNumbers(10)).slice(-2), ["9", "10"])
    })

    it("have the maximum length", async () => {
      const { issueNext, setPattern } = await makeInvoiceSeries(fixture().service)
      await setPattern(`${"N".repeat(51)}{seq:20}`)
      assert.strictEqual((await issueNext()).invoiceNumber, `${"N".repeat(51)}${"1".padStart(20, "0")}`)
    })

    it("keep the count after the pattern changes", async () => {
      const { issueNext, issueNumbers, series, setPattern } = await makeInvoiceSeries(fixture().service)
      const first = await issueNext()
      const year = first.issuedAt.slice(0, 4)
      await setPattern("{year}/{seq:2}")
      assert.deepStrictEqual(await issueNumbers(2), [`${year}/02`, `${year}/03`])
      assert.deepStrictEqual((await series()).periods, [
        { period: year, first: first.invoiceNumber, last: `${year}/03`, count: 3, voids: 0, gaps: [] }
      ])
    })

    it("have one count per year and one without a year, which each continue", async () => {
      const { issueNext, issueNumbers, series, setPattern } = await makeInvoiceSeries(fixture().service)
      await setPattern("A-{seq}")
      assert.deepStrictEqual(await issueNumbers(2), ["A-1", "A-2"])
      await setPattern("Y{year}-{seq}")
      const { invoiceNumber, issuedAt } = await issueNext()
      const year = issuedAt.slice(0, 4)
      assert.strictEqual(invoiceNumber, `Y${year}-1`)
      await setPattern("B-{seq}")
      assert.deepStrictEqual(await issueNumbers(1), ["B-3"])
      await setPattern("Y{year}-{seq}")
      assert.deepStrictEqual(await issueNumbers(1), [`Y${year}-2`])
      assert.deepStrictEqual((await series()).periods, [
        { period: year, first: `Y${year}-1`, last: `Y${year}-2`, count: 2, voids: 0, gaps: [] },
        { period: "all", first: "A-1", last: "B-3", count: 3, voids: 0, gaps: [] }
      ])
    })

    it("have no gap while the pattern changes concurrently", async () => {
      const invoiceSeries = await makeInvoiceSeries(fixture().service)
      await invoiceSeries.setPattern("A-{seq:2}")
      const ids = await invoiceSeries.drafts(20)
      const [issued] = await Promise.all([
        Promise.all(ids.map(invoiceSeries.issue)),
        ...Array.from({ length: 10 }, (_, index) =>
          invoiceSeries.trySetPattern(index % 2 === 0 ? "B-{seq:2}" : "A-{seq:2}")
        )
      ])
      assert.deepStrictEqual(
        issued.map(({ invoiceNumber }) => Number(invoiceNumber.slice(2))).sort((one, other) => one - other),
        ids.map((_, index) => index + 1)
      )
      assert.deepInclude((await invoiceSeries.series()).periods[0], { count: 20, gaps: [] })
    })

    it("restart at 1 in a new year", async () => {
      const { issueNext, issueNumbers, series, tenant } = await makeInvoiceSeries(fixture().service)
      const { invoiceNumber, issuedAt } = await issueNext()
      const year = issuedAt.slice(0, 4)
      const following = String(Number(year) + 1)
      await setLastIssued(tenant, `${following}-01-01T00:00:00.000Z`)
      assert.deepStrictEqual(await issueNumbers(2), [`INV-${following}-000001`, `INV-${following}-000002`])
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

    it("continue in a new year if the pattern has no {year}", async () => {
      const { issueNext, issueNumbers, tenant, setPattern } = await makeInvoiceSeries(fixture().service)
      await setPattern("N-{seq}")
      const year = Number((await issueNext()).issuedAt.slice(0, 4))
      await setLastIssued(tenant, `${year + 1}-01-01T00:00:00.000Z`)
      assert.deepStrictEqual(await issueNumbers(1), ["N-2"])
    })
  })

  describe("that is invalid", () => {
    const expectedErrors: ReadonlyArray<readonly [pattern: unknown, ExpectedError]> = [
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
      [undefined, ["body", "required", "must contain at least one field to change"]]
    ]
    for (const [pattern, expectedError] of expectedErrors) {
      it(`is rejected: ${JSON.stringify(pattern)}`, async () => {
        const { issueNumbers, series, trySetPattern, setPattern } = await makeInvoiceSeries(fixture().service)
        await setPattern("N-{seq}")
        assertValidationError(await trySetPattern(pattern), expectedError)
        assert.strictEqual((await series()).pattern, "N-{seq}")
        assert.deepStrictEqual(await issueNumbers(1), ["N-1"])
      })
    }
  })

  it("records invoice_series.updated with the data of the response", async () => {
    const { issueNumbers, tenant, trySetPattern, setPattern } = await makeInvoiceSeries(fixture().service)
    await issueNumbers(2)
    const responses = [await trySetPattern("A-{seq}"), await trySetPattern("B-{seq}")]
    await setPattern("C-{seq}")
    assert.strictEqual((await trySetPattern("{nothing}")).status, 400)
    const { rows } = await fixture().pool.query(
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
      responses.map(({ text }) => text)
    )
    const otherTenant = await makeInvoiceSeries(fixture().service)
    await otherTenant.setPattern("D-{seq}")
    const { rows: others } = await fixture().pool.query(
      "select resource_id from events where tenant_id = $1 and type = 'invoice_series.updated'",
      [otherTenant.tenant]
    )
    assert.notStrictEqual(others[0].resource_id, rows[0].resource_id)
  })

  it("records consecutive events under concurrent changes", async () => {
    const { tenant, trySetPattern } = await makeInvoiceSeries(fixture().service)
    const responses = await Promise.all(Array.from({ length: 20 }, (_, n) => trySetPattern(`${n}-{seq}`)))
    assert.deepStrictEqual(new Set(responses.map(({ status }) => status)), new Set([200]))
    const { rows } = await fixture().pool.query(
      "select sequence, data from events where tenant_id = $1 and type = 'invoice_series.updated' order by sequence",
      [tenant]
    )
    assert.deepStrictEqual(
      rows.map(({ sequence }) => sequence),
      Array.from({ length: 20 }, (_, n) => n + 1)
    )
    const { rows: series } = await fixture().pool.query("select pattern from invoice_series where tenant_id = $1", [
      tenant
    ])
    assert.strictEqual(rows.at(-1).data.pattern, series[0].pattern)
  })

  it("is visible to every member and changed only by ADMIN", async () => {
    const { call, series } = await makeInvoiceSeries(fixture().service)
    for (const [role, mayChange] of Object.entries({ VIEWER: false, MEMBER: false, ADMIN: true })) {
      const as = role.toLowerCase()
      assert.strictEqual((await call("POST", "/members", { body: { subject: as, role } })).status, 201)
      const before = await series()
      assert.deepStrictEqual((await call("GET", "/invoice-series", { as })).body.data, before)
      const pattern = `${role}-{seq}`
      const response = await call("PATCH", "/invoice-series", { as, body: { pattern } })
      if (mayChange) assert.deepStrictEqual([response.status, response.body.data], [200, { ...before, pattern }])
      else assertFailure(response, 403, forbiddenText)
      assert.strictEqual((await series()).pattern, mayChange ? pattern : before.pattern)
    }
  })

  describe("continues a series from elsewhere", () => {
    it("with its next number, before the first one", async () => {
      const { call, issueNumbers, series, setPattern } = await makeInvoiceSeries(fixture().service)
      await setPattern("N-{seq}")
      assert.strictEqual((await series()).next, 1)
      const { body } = await call("PATCH", "/invoice-series", { body: { next: 118 } })
      const periods = [{ period: "all", count: 0, voids: 0, gaps: [] }]
      assert.deepStrictEqual(body.data, { pattern: "N-{seq}", next: 118, periods })
      assert.deepStrictEqual(await series(), body.data)
      assert.deepStrictEqual(await issueNumbers(2), ["N-118", "N-119"])
      assert.deepStrictEqual(await series(), {
        pattern: "N-{seq}",
        next: 120,
        periods: [{ period: "all", first: "N-118", last: "N-119", count: 2, voids: 0, gaps: [] }]
      })
    })

    it("upwards only, and not once the period has a number", async () => {
      const { call, issueNumbers, setPattern } = await makeInvoiceSeries(fixture().service)
      await setPattern("N-{seq}")
      const setNext = (next: number) => call("PATCH", "/invoice-series", { body: { next } })
      assert.strictEqual((await setNext(118)).status, 200)
      assertValidationError(await setNext(117), [
        "next",
        "min",
        "must be at least 118, because the counter only goes up, but is 117"
      ])
      assert.deepStrictEqual(await issueNumbers(1), ["N-118"])
      assertValidationError(await setNext(200), [
        "next",
        "state",
        "can only be set before the first number, but the series has numbers"
      ])
    })

    it("together with its pattern, or neither", async () => {
      const { call, issueNumbers, series } = await makeInvoiceSeries(fixture().service)
      await issueNumbers(1)
      const before = await series()
      const rejected = await call("PATCH", "/invoice-series", { body: { pattern: "Y{year}-{seq}", next: 5 } })
      assert.strictEqual(rejected.status, 400, rejected.text)
      assert.deepStrictEqual(await series(), before)
      const accepted = await call("PATCH", "/invoice-series", { body: { pattern: "A-{seq:3}", next: 5 } })
      assert.strictEqual(accepted.status, 200, accepted.text)
      assert.deepStrictEqual(await issueNumbers(1), ["A-005"])
    })
  })
})

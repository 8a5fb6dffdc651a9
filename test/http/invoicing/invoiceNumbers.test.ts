import { assert, describe, it } from "vitest"
import { assertValidationError, type ExpectedError } from "../../support/assertions/failures.ts"
import { type InvoiceSeries, type IssuedInvoice, makeInvoiceSeries } from "../../support/fixtures/invoiceSeries.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { startServiceWithPool } from "../../support/servers/serviceWithPool.ts"

const byNumber = (one: IssuedInvoice, other: IssuedInvoice) => (one.invoiceNumber < other.invoiceNumber ? -1 : 1)

describe("Invoice numbers", () => {
  const fixture = useFixture(startServiceWithPool)

  /** Sets when the last invoice of a tenant was issued. */
  const setLastIssued = (tenant: string, moment: string) =>
    fixture().pool.query("update invoice_series set last_issued = $2 where tenant_id = $1", [tenant, moment])

  /** Deletes an issued invoice, which no request can do. */
  const deleteInvoice = async (tenant: string, id: string) => {
    await fixture().pool.query("delete from billables where tenant_id = $1 and invoice_id = $2", [tenant, id])
    await fixture().pool.query("alter table journal_entries disable trigger journal_entries_not_deleted")
    await fixture().pool.query("delete from journal_entries where tenant_id = $1 and invoice_id = $2", [tenant, id])
    await fixture().pool.query("alter table journal_entries enable trigger journal_entries_not_deleted")
    await fixture().pool.query("delete from invoices where tenant_id = $1 and id = $2", [tenant, id])
  }

  describe("assigned by finalize", () => {
    it("start at 1, contain the year and are summarized by GET /invoice-series", async () => {
      const { issueNext, series } = await makeInvoiceSeries(fixture().service)
      assert.deepStrictEqual(await series(), { pattern: "INV-{year}-{seq:6}", next: 1, periods: [] })
      const first = await issueNext()
      const year = first.issuedAt.slice(0, 4)
      assert.strictEqual(first.invoiceNumber, `INV-${year}-000001`)
      assert.deepStrictEqual(
        [(await issueNext()).invoiceNumber, (await issueNext()).invoiceNumber],
        [`INV-${year}-000002`, `INV-${year}-000003`]
      )
      assert.deepStrictEqual(await series(), {
        pattern: "INV-{year}-{seq:6}",
        next: 4,
        periods: [
          { period: year, first: `INV-${year}-000001`, last: `INV-${year}-000003`, count: 3, voids: 0, gaps: [] }
        ]
      })
    })

    it("have no gaps, no duplicates and ascending dates under concurrent requests", async () => {
      const invoiceSeries = await makeInvoiceSeries(fixture().service)
      await invoiceSeries.setPattern("N-{seq:3}")
      const ids = await invoiceSeries.drafts(40)
      const issued = (await Promise.all(ids.map(invoiceSeries.issue))).sort(byNumber)
      assert.deepStrictEqual(
        issued.map(({ invoiceNumber }) => invoiceNumber),
        ids.map((_, index) => `N-${String(index + 1).padStart(3, "0")}`)
      )
      const dates = issued.map(({ issuedAt }) => issuedAt)
      assert.deepStrictEqual(dates, [...dates].sort())
      assert.deepStrictEqual((await invoiceSeries.series()).periods, [
        { period: "all", first: "N-001", last: "N-040", count: 40, voids: 0, gaps: [] }
      ])
    })

    it("are assigned once to an invoice under concurrent requests", async () => {
      const { draft, finalize, issueNext, setPattern } = await makeInvoiceSeries(fixture().service)
      await setPattern("N-{seq}")
      const id = await draft()
      const responses = await Promise.all(Array.from({ length: 10 }, () => finalize(id)))
      const rejected = responses.filter(({ status }) => status !== 200)
      assert.strictEqual(rejected.length, 9)
      for (const response of rejected) {
        assertValidationError(response, ["status", "state", "is FINALIZED; only a DRAFT invoice can be finalized"])
      }
      assert.strictEqual((await issueNext()).invoiceNumber, "N-2")
    })

    it("are assigned once per Idempotency-Key", async () => {
      const { draft, finalize, issueNext, setPattern } = await makeInvoiceSeries(fixture().service)
      await setPattern("N-{seq}")
      const key = { "idempotency-key": "finalize-once" }
      const id = await draft()
      const [first, second] = [await finalize(id, key), await finalize(id, key)]
      assert.deepStrictEqual([first.status, second.status, second.text], [200, 200, first.text])
      assert.strictEqual((await issueNext()).invoiceNumber, "N-2")
    })

    it("are separate for each tenant", async () => {
      const [one, other] = [await makeInvoiceSeries(fixture().service), await makeInvoiceSeries(fixture().service)]
      await other.setPattern("OTHER-{seq}")
      const year = (await one.issueNext()).issuedAt.slice(0, 4)
      assert.deepStrictEqual(await other.issueNumbers(2), ["OTHER-1", "OTHER-2"])
      assert.deepStrictEqual(await one.issueNumbers(1), [`INV-${year}-000002`])
      assert.strictEqual((await one.series()).pattern, "INV-{year}-{seq:6}")
      assert.deepStrictEqual((await other.series()).periods, [
        { period: "all", first: "OTHER-1", last: "OTHER-2", count: 2, voids: 0, gaps: [] }
      ])
    })

    it("have issue dates that never go back when the clock does", async () => {
      const { issueNext, tenant } = await makeInvoiceSeries(fixture().service)
      const before = await issueNext()
      const ahead = `${before.issuedAt.slice(0, 4)}-12-31T23:59:59.999Z`
      await setLastIssued(tenant, ahead)
      assert.deepStrictEqual([(await issueNext()).issuedAt, (await issueNext()).issuedAt], [ahead, ahead])
    })

    it("stay with a voided invoice, and a voided draft has none", async () => {
      const { call, draft, issueNext, series, setPattern } = await makeInvoiceSeries(fixture().service)
      await setPattern("N-{seq}")
      const { id, invoiceNumber, issuedAt } = await issueNext()
      const unused = await draft()
      const [voided, voidedDraft] = [
        await call("POST", `/invoices/${id}/void`),
        await call("POST", `/invoices/${unused}/void`)
      ]
      assert.deepInclude(voided.body.data, { status: "VOID", invoiceNumber, issuedAt })
      assert.strictEqual(voidedDraft.body.data.status, "VOID")
      assert.notProperty(voidedDraft.body.data, "invoiceNumber")
      assert.strictEqual((await issueNext()).invoiceNumber, "N-2")
      assert.deepStrictEqual((await series()).periods, [
        { period: "all", first: "N-1", last: "N-2", count: 2, voids: 1, gaps: [] }
      ])
    })
  })

  describe("are not consumed by a request to finalize", () => {
    const createInvoiceIn = async ({ call, draft }: InvoiceSeries, ...transitions: ReadonlyArray<string>) => {
      const id = await draft()
      for (const transition of transitions) {
        assert.strictEqual((await call("POST", `/invoices/${id}/${transition}`)).status, 200)
      }
      return id
    }

    /** How many numbers exist before, the invoice to finalize, and the expected error. */
    const rejections: Readonly<
      Record<string, readonly [issued: number, (invoiceSeries: InvoiceSeries) => Promise<string>, ExpectedError]>
    > = {
      "an invoice without a line": [
        0,
        ({ draft }) => draft({ lines: [] }),
        ["billableCount", "min", "is 0; add at least one billable before finalizing"]
      ],
      "an invoice with a negative total": [
        0,
        ({ draft }) => draft({ lines: [100, -101] }),
        ["totalMinor", "min", "is -1; only an invoice with a total of at least 0 can be finalized"]
      ],
      "an invoice with a due date in the past": [
        0,
        ({ draft }) => draft({ dueAt: "2020-01-01T00:00:00Z" }),
        ["dueAt", "min", "must not be before the date of issue"]
      ],
      "an invoice that is finalized": [
        1,
        (invoiceSeries) => createInvoiceIn(invoiceSeries, "finalize"),
        ["status", "state", "is FINALIZED; only a DRAFT invoice can be finalized"]
      ],
      "an invoice that is paid": [
        1,
        (invoiceSeries) => createInvoiceIn(invoiceSeries, "finalize", "pay"),
        ["status", "state", "is PAID; only a DRAFT invoice can be finalized"]
      ],
      "an invoice that is void": [
        0,
        (invoiceSeries) => createInvoiceIn(invoiceSeries, "void"),
        ["status", "state", "is VOID; only a DRAFT invoice can be finalized"]
      ]
    }
    for (const [reason, [issued, createInvoice, expectedError]] of Object.entries(rejections)) {
      it(reason, async () => {
        const invoiceSeries = await makeInvoiceSeries(fixture().service)
        await invoiceSeries.setPattern("N-{seq}")
        const id = await createInvoice(invoiceSeries)
        for (const _ of [1, 2]) assertValidationError(await invoiceSeries.finalize(id), expectedError)
        assert.strictEqual((await invoiceSeries.issueNext()).invoiceNumber, `N-${issued + 1}`)
        const [period] = (await invoiceSeries.series()).periods
        assert.deepInclude(period, { count: issued + 1, gaps: [] })
      })
    }

    it("an invoice whose number another pattern has produced", async () => {
      const { draft, finalize, issueNext, issueNumbers, series, trySetPattern, setPattern } = await makeInvoiceSeries(
        fixture().service
      )
      const { invoiceNumber, issuedAt } = await issueNext()
      const year = issuedAt.slice(0, 4)
      await setPattern(`INV-${year}-{seq:6}`)
      assertValidationError(await finalize(await draft()), ["invoiceNumber", "unique", "is already taken"])
      assert.strictEqual((await trySetPattern("N-{seq}")).status, 200)
      assert.deepStrictEqual(await issueNumbers(1), ["N-1"])
      assert.deepStrictEqual((await series()).periods, [
        { period: year, first: invoiceNumber, last: invoiceNumber, count: 1, voids: 0, gaps: [] },
        { period: "all", first: "N-1", last: "N-1", count: 1, voids: 0, gaps: [] }
      ])
    })
  })

  describe("with gaps", () => {
    /** Issues N-1 to N-6, deletes some of them, and returns the periods of the series. */
    const readPeriodsWithout = async (...places: ReadonlyArray<number>) => {
      const invoiceSeries = await makeInvoiceSeries(fixture().service)
      await invoiceSeries.setPattern("N-{seq}")
      for (const place of [1, 2, 3, 4, 5, 6]) {
        const { id } = await invoiceSeries.issueNext()
        if (places.includes(place)) await deleteInvoice(invoiceSeries.tenant, id)
      }
      return (await invoiceSeries.series()).periods
    }

    it("report a gap for each deleted invoice", async () => {
      assert.deepStrictEqual(await readPeriodsWithout(2, 4, 5), [
        {
          period: "all",
          first: "N-1",
          last: "N-6",
          count: 3,
          voids: 0,
          gaps: [
            { from: 2, to: 2 },
            { from: 4, to: 5 }
          ]
        }
      ])
    })

    it("report gaps at the start and at the end", async () => {
      assert.deepStrictEqual(await readPeriodsWithout(1, 6), [
        {
          period: "all",
          first: "N-2",
          last: "N-5",
          count: 4,
          voids: 0,
          gaps: [
            { from: 1, to: 1 },
            { from: 6, to: 6 }
          ]
        }
      ])
    })

    it("report one gap when all invoices of a period are deleted", async () => {
      assert.deepStrictEqual(await readPeriodsWithout(1, 2, 3, 4, 5, 6), [
        { period: "all", count: 0, voids: 0, gaps: [{ from: 1, to: 6 }] }
      ])
    })

    it("report a gap when the counter was raised, also after the next number", async () => {
      const { issueNext, series, tenant, setPattern } = await makeInvoiceSeries(fixture().service)
      await setPattern("N-{seq}")
      await issueNext()
      await fixture().pool.query("update invoice_counters set last = 4 where tenant_id = $1", [tenant])
      const gaps = [{ from: 2, to: 4 }]
      assert.deepStrictEqual((await series()).periods, [
        { period: "all", first: "N-1", last: "N-1", count: 1, voids: 0, gaps }
      ])
      assert.strictEqual((await issueNext()).invoiceNumber, "N-5")
      assert.deepStrictEqual((await series()).periods, [
        { period: "all", first: "N-1", last: "N-5", count: 2, voids: 0, gaps }
      ])
    })

    it("report the gaps of each period separately", async () => {
      const { issueNext, series, tenant, setPattern } = await makeInvoiceSeries(fixture().service)
      const deleted = await issueNext()
      await issueNext()
      await setPattern("N-{seq}")
      await issueNext()
      await deleteInvoice(tenant, deleted.id)
      const periods: ReadonlyArray<{ readonly gaps: unknown }> = (await series()).periods
      assert.deepStrictEqual(
        periods.map(({ gaps }) => gaps),
        [[{ from: 1, to: 1 }], []]
      )
    })
  })
})

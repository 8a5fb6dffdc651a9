import { assert, describe, it } from "vitest"
import { assertValidationError, type ExpectedError } from "../../support/assertions/failures.ts"
import { type InvoiceSeries, type IssuedInvoice, makeInvoiceSeries } from "../../support/fixtures/invoiceSeries.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { startServiceWithPool } from "../../support/servers/serviceWithPool.ts"

const byNumber = (one: IssuedInvoice, other: IssuedInvoice) => (one.invoiceNumber < other.invoiceNumber ? -1 : 1)

describe("invoice numbers", () => {
  const at = useFixture(startServiceWithPool)

  /** As if an invoice had been issued in the tenant then. */
  const lastIssued = (tenant: string, moment: string) =>
    at().pool.query("update invoice_series set last_issued = $2 where tenant_id = $1", [tenant, moment])

  /** What nobody can do through the service: takes an issued invoice away. */
  const tear = async (tenant: string, id: string) => {
    await at().pool.query("delete from billables where tenant_id = $1 and invoice_id = $2", [tenant, id])
    await at().pool.query("delete from invoices where tenant_id = $1 and id = $2", [tenant, id])
  }

  describe("as they are given", () => {
    it("begin with 1, show the year, and are told by the series", async () => {
      const { next, series } = await makeInvoiceSeries(at().service)
      assert.deepStrictEqual(await series(), { pattern: "INV-{year}-{seq:6}", periods: [] })
      const first = await next()
      const year = first.issuedAt.slice(0, 4)
      assert.strictEqual(first.invoiceNumber, `INV-${year}-000001`)
      assert.deepStrictEqual(
        [(await next()).invoiceNumber, (await next()).invoiceNumber],
        [`INV-${year}-000002`, `INV-${year}-000003`]
      )
      assert.deepStrictEqual(await series(), {
        pattern: "INV-{year}-{seq:6}",
        periods: [
          { period: year, first: `INV-${year}-000001`, last: `INV-${year}-000003`, count: 3, voids: 0, gaps: [] }
        ]
      })
    })

    it("have neither a gap nor a double, and dates that go up with them, when many are asked for at once", async () => {
      const staged = await makeInvoiceSeries(at().service)
      await staged.using("N-{seq:3}")
      const ids = await staged.drafts(40)
      const issued = (await Promise.all(ids.map(staged.issue))).sort(byNumber)
      assert.deepStrictEqual(
        issued.map(({ invoiceNumber }) => invoiceNumber),
        ids.map((_, index) => `N-${String(index + 1).padStart(3, "0")}`)
      )
      const dates = issued.map(({ issuedAt }) => issuedAt)
      assert.deepStrictEqual(dates, [...dates].sort())
      assert.deepStrictEqual((await staged.series()).periods, [
        { period: "all", first: "N-001", last: "N-040", count: 40, voids: 0, gaps: [] }
      ])
    })

    it("are given once to an invoice that is finalized by many at once", async () => {
      const { draft, finalize, next, using } = await makeInvoiceSeries(at().service)
      await using("N-{seq}")
      const id = await draft()
      const answers = await Promise.all(Array.from({ length: 10 }, () => finalize(id)))
      const refused = answers.filter(({ status }) => status !== 200)
      assert.strictEqual(refused.length, 9)
      for (const answer of refused) {
        assertValidationError(answer, ["status", "state", "is FINALIZED; only DRAFT can be finalized"])
      }
      assert.strictEqual((await next()).invoiceNumber, "N-2")
    })

    it("are given once to a request that is repeated under its key", async () => {
      const { draft, finalize, next, using } = await makeInvoiceSeries(at().service)
      await using("N-{seq}")
      const key = { "idempotency-key": "finalize-once" }
      const id = await draft()
      const [first, second] = [await finalize(id, key), await finalize(id, key)]
      assert.deepStrictEqual([first.status, second.status, second.text], [200, 200, first.text])
      assert.strictEqual((await next()).invoiceNumber, "N-2")
    })

    it("are each tenant's own", async () => {
      const [one, other] = [await makeInvoiceSeries(at().service), await makeInvoiceSeries(at().service)]
      await other.using("OTHER-{seq}")
      const year = (await one.next()).issuedAt.slice(0, 4)
      assert.deepStrictEqual(await other.numbers(2), ["OTHER-1", "OTHER-2"])
      assert.deepStrictEqual(await one.numbers(1), [`INV-${year}-000002`])
      assert.strictEqual((await one.series()).pattern, "INV-{year}-{seq:6}")
      assert.deepStrictEqual((await other.series()).periods, [
        { period: "all", first: "OTHER-1", last: "OTHER-2", count: 2, voids: 0, gaps: [] }
      ])
    })

    it("come with dates that do not go back when the clock does", async () => {
      const { next, tenant } = await makeInvoiceSeries(at().service)
      const before = await next()
      const ahead = `${before.issuedAt.slice(0, 4)}-12-31T23:59:59.999Z`
      await lastIssued(tenant, ahead)
      assert.deepStrictEqual([(await next()).issuedAt, (await next()).issuedAt], [ahead, ahead])
    })

    it("stay with an invoice that is void, and a draft that is void has none", async () => {
      const { call, draft, next, series, using } = await makeInvoiceSeries(at().service)
      await using("N-{seq}")
      const { id, invoiceNumber, issuedAt } = await next()
      const unused = await draft()
      const [voided, voidedDraft] = [
        await call("POST", `/invoices/${id}/void`),
        await call("POST", `/invoices/${unused}/void`)
      ]
      assert.deepInclude(voided.body.data, { status: "VOID", invoiceNumber, issuedAt })
      assert.strictEqual(voidedDraft.body.data.status, "VOID")
      assert.notProperty(voidedDraft.body.data, "invoiceNumber")
      assert.strictEqual((await next()).invoiceNumber, "N-2")
      assert.deepStrictEqual((await series()).periods, [
        { period: "all", first: "N-1", last: "N-2", count: 2, voids: 1, gaps: [] }
      ])
    })
  })

  describe("when finalizing is refused", () => {
    const inState = async ({ call, draft }: InvoiceSeries, ...moves: ReadonlyArray<string>) => {
      const id = await draft()
      for (const move of moves) assert.strictEqual((await call("POST", `/invoices/${id}/${move}`)).status, 200)
      return id
    }

    /** How many numbers were given before the refusal, the invoice that is refused, and why. */
    const refusals: Readonly<
      Record<string, readonly [given: number, (staged: InvoiceSeries) => Promise<string>, ExpectedError]>
    > = {
      "an invoice without a line": [
        0,
        ({ draft }) => draft({ lines: [] }),
        ["billableCount", "min", "must be at least 1 to be finalized"]
      ],
      "a negative total": [
        0,
        ({ draft }) => draft({ lines: [100, -101] }),
        ["totalMinor", "min", "must not be negative to be finalized"]
      ],
      "a due date in the past": [
        0,
        ({ draft }) => draft({ dueAt: "2020-01-01T00:00:00Z" }),
        ["dueAt", "min", "must not be before the invoice is issued"]
      ],
      "an invoice that is finalized": [
        1,
        (staged) => inState(staged, "finalize"),
        ["status", "state", "is FINALIZED; only DRAFT can be finalized"]
      ],
      "an invoice that is paid": [
        1,
        (staged) => inState(staged, "finalize", "pay"),
        ["status", "state", "is PAID; only DRAFT can be finalized"]
      ],
      "an invoice that is void": [
        0,
        (staged) => inState(staged, "void"),
        ["status", "state", "is VOID; only DRAFT can be finalized"]
      ]
    }
    for (const [what, [given, make, fault]] of Object.entries(refusals)) {
      it(`are not used up by ${what}`, async () => {
        const staged = await makeInvoiceSeries(at().service)
        await staged.using("N-{seq}")
        const id = await make(staged)
        for (const _ of [1, 2]) assertValidationError(await staged.finalize(id), fault)
        assert.strictEqual((await staged.next()).invoiceNumber, `N-${given + 1}`)
        const [period] = (await staged.series()).periods
        assert.deepInclude(period, { count: given + 1, gaps: [] })
      })
    }

    it("are not used up by one that another pattern gave already", async () => {
      const { draft, finalize, next, numbers, series, use, using } = await makeInvoiceSeries(at().service)
      const { invoiceNumber, issuedAt } = await next()
      const year = issuedAt.slice(0, 4)
      await using(`INV-${year}-{seq:6}`)
      assertValidationError(await finalize(await draft()), ["invoiceNumber", "unique", "is taken"])
      assert.strictEqual((await use("N-{seq}")).status, 200)
      assert.deepStrictEqual(await numbers(1), ["N-1"])
      assert.deepStrictEqual((await series()).periods, [
        { period: year, first: invoiceNumber, last: invoiceNumber, count: 1, voids: 0, gaps: [] },
        { period: "all", first: "N-1", last: "N-1", count: 1, voids: 0, gaps: [] }
      ])
    })
  })

  describe("that are missing", () => {
    /** Six invoices, N-1 to N-6, of which some are taken away by force. */
    const without = async (...places: ReadonlyArray<number>) => {
      const staged = await makeInvoiceSeries(at().service)
      await staged.using("N-{seq}")
      for (const place of [1, 2, 3, 4, 5, 6]) {
        const { id } = await staged.next()
        if (places.includes(place)) await tear(staged.tenant, id)
      }
      return (await staged.series()).periods
    }

    it("are a gap where an invoice was torn out", async () => {
      assert.deepStrictEqual(await without(2, 4, 5), [
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

    it("are a gap at either end as well", async () => {
      assert.deepStrictEqual(await without(1, 6), [
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

    it("are one gap where nothing of a period is left", async () => {
      assert.deepStrictEqual(await without(1, 2, 3, 4, 5, 6), [
        { period: "all", count: 0, voids: 0, gaps: [{ from: 1, to: 6 }] }
      ])
    })

    it("are a gap where the count was raised, before and after the next number", async () => {
      const { next, series, tenant, using } = await makeInvoiceSeries(at().service)
      await using("N-{seq}")
      await next()
      await at().pool.query("update invoice_counters set last = 4 where tenant_id = $1", [tenant])
      const gaps = [{ from: 2, to: 4 }]
      assert.deepStrictEqual((await series()).periods, [
        { period: "all", first: "N-1", last: "N-1", count: 1, voids: 0, gaps }
      ])
      assert.strictEqual((await next()).invoiceNumber, "N-5")
      assert.deepStrictEqual((await series()).periods, [
        { period: "all", first: "N-1", last: "N-5", count: 2, voids: 0, gaps }
      ])
    })

    it("are seen in their own period alone", async () => {
      const { next, series, tenant, using } = await makeInvoiceSeries(at().service)
      const torn = await next()
      await next()
      await using("N-{seq}")
      await next()
      await tear(tenant, torn.id)
      const periods: ReadonlyArray<{ readonly gaps: unknown }> = (await series()).periods
      assert.deepStrictEqual(
        periods.map(({ gaps }) => gaps),
        [[{ from: 1, to: 1 }], []]
      )
    })
  })
})

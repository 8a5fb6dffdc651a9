import { assert, describe, it } from "vitest"
import { assertValidationError } from "../../support/assertions/failures.ts"
import { daysFromNow } from "../../support/fixtures/dates.ts"
import { invoiceClient } from "../../support/fixtures/invoices.ts"
import type { ResourceBody } from "../../support/fixtures/resources.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { startService } from "../../support/servers/service.ts"

describe("Reading invoices", () => {
  const fixture = useFixture(startService)
  const createClient = async () => invoiceClient(fixture(), await fixture().newTenant())

  it("explains the product, rounding and running total of each line", async () => {
    const { add, call, contract, draft } = await createClient()
    const { id } = await draft({ contractId: (await contract({ currencyCode: "KWD" })).id })
    const [half, tiny, less] = await add(
      id,
      { name: "Half", quantity: 1.005, amountMinor: 100, order: 2 },
      { name: "Tiny", quantity: 1e-12, amountMinor: 3, order: 1 },
      { name: "Less", quantity: -2.5, amountMinor: 1 }
    )
    const { body } = await call("GET", `/invoices/${id}/explain`)
    assert.deepStrictEqual(body.data, {
      invoice: id,
      currencyCode: "KWD",
      decimals: 3,
      rounding: "half away from zero, once for each line, each discount and each tax",
      lines: [
        {
          billable: tiny?.id,
          name: "Tiny",
          quantity: "0.000000000001",
          amountMinor: 3,
          product: "0.000000000003",
          roundedBy: "-0.000000000003",
          discountMinor: 0,
          lineTotalMinor: 0,
          runningTotalMinor: 0
        },
        {
          billable: half?.id,
          name: "Half",
          quantity: "1.005",
          amountMinor: 100,
          product: "100.5",
          roundedBy: "0.5",
          discountMinor: 0,
          lineTotalMinor: 101,
          runningTotalMinor: 101
        },
        {
          billable: less?.id,
          name: "Less",
          quantity: "-2.5",
          amountMinor: 1,
          product: "-2.5",
          roundedBy: "-0.5",
          discountMinor: 0,
          lineTotalMinor: -3,
          runningTotalMinor: 98
        }
      ],
      subtotalMinor: 98,
      discountMinor: 0,
      taxSets: [{ taxRates: [], netMinor: 98, discountMinor: 0 }],
      taxes: [],
      taxMinor: 0,
      totalMinor: 98
    })
  })

  it("explains 1001 lines once each and in order", async () => {
    const { add, call, draft } = await createClient()
    const { id } = await draft()
    const added = [
      ...(await add(id, ...Array.from({ length: 1000 }, (_, n) => ({ amountMinor: n, order: n >> 1 })))),
      ...(await add(id, { amountMinor: 1 }))
    ]
    const { data } = (await call("GET", `/invoices/${id}/explain`)).body
    assert.deepStrictEqual(
      data.lines.map(({ billable }: { billable: string }) => billable),
      added.map((line) => line.id)
    )
    assert.deepStrictEqual([data.lines.at(-1).runningTotalMinor, data.totalMinor], [499_501, 499_501])
  })

  it("filters by contract, status and overdue", async () => {
    const { call, contract, draft, invoiceIn } = await createClient()
    const [late, early] = [await contract({ paymentTermDays: 0 }), await contract()]
    const created: Record<string, string> = { bare: (await draft({ contractId: early.id, dueAt: daysFromNow(-1) })).id }
    for (const status of ["DRAFT", "FINALIZED", "PAID", "VOID"] as const) {
      created[`${status} late`] = (await invoiceIn(status, { contractId: late.id })).id
      created[`${status} early`] = (await invoiceIn(status, { contractId: early.id })).id
    }
    const findNames = async (query: string) => {
      const { body, status, text } = await call("GET", `/invoices?${query}`)
      assert.strictEqual(status, 200, text)
      const ids = body.data.map(({ id }: ResourceBody) => id)
      return Object.keys(created).filter((name) => ids.includes(created[name]))
    }
    const all = Object.keys(created)
    const expected: Readonly<Record<string, ReadonlyArray<string>>> = {
      "": all,
      [`contractId=${late.id}`]: all.filter((name) => name.endsWith("late")),
      [`contractId=${early.id}`]: all.filter((name) => !name.endsWith("late")),
      "status=DRAFT": ["bare", "DRAFT late", "DRAFT early"],
      "status=FINALIZED": ["FINALIZED late", "FINALIZED early"],
      "status=PAID": ["PAID late", "PAID early"],
      "status=VOID": ["VOID late", "VOID early"],
      "overdue=true": ["FINALIZED late"],
      "overdue=false": all.filter((name) => name !== "FINALIZED late"),
      "overdue=false&status=FINALIZED": ["FINALIZED early"],
      "overdue=true&status=PAID": [],
      [`overdue=true&contractId=${early.id}`]: [],
      [`contractId=${late.id}&status=PAID`]: ["PAID late"],
      "contractId=ctr_none": []
    }
    for (const [query, names] of Object.entries(expected)) assert.deepStrictEqual(await findNames(query), names, query)
    assertValidationError(
      await call("GET", "/invoices?status=OVERDUE&overdue=yes&contractId=inv_a"),
      ["contractId", "format", "must be a contract identifier (ctr_…)"],
      ["status", "enum", "must be one of DRAFT, FINALIZED, PAID, VOID"],
      ["overdue", "enum", "must be one of true, false"]
    )
  })
})

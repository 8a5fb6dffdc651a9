import { assert, describe, it } from "vitest"
import { assertValidationError } from "../../support/assertions/failures.ts"
import { invoiceClient, invoiceStatuses, lineOf, readInvoicingRows } from "../../support/fixtures/invoices.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { startServiceWithPool } from "../../support/servers/serviceWithPool.ts"

type Status = (typeof invoiceStatuses)[number]
type Target = Readonly<Record<"id" | "line", string>>
type Request = readonly [method: string, path: string, body?: object]

interface Action {
  readonly request: (on: Target) => Request
  /** The statuses that allow the action, and the HTTP status of the response then. */
  readonly from: ReadonlyArray<Status>
  readonly expectedStatus: number
  /** The error message in every other status. */
  readonly rule: string
}

const onlyDrafts = {
  from: ["DRAFT"],
  rule: "only a DRAFT invoice and its billables can be changed or deleted"
} satisfies Partial<Action>

const actions: Readonly<Record<string, Action>> = {
  changed: {
    request: ({ id }) => ["PATCH", `/invoices/${id}`, { dueAt: "2031-01-31T00:00:00Z" }],
    expectedStatus: 200,
    ...onlyDrafts
  },
  deleted: { request: ({ id }) => ["DELETE", `/invoices/${id}`], expectedStatus: 204, ...onlyDrafts },
  finalized: {
    request: ({ id }) => ["POST", `/invoices/${id}/finalize`],
    from: ["DRAFT"],
    expectedStatus: 200,
    rule: "only a DRAFT invoice can be finalized"
  },
  paid: {
    request: ({ id }) => ["POST", `/invoices/${id}/pay`],
    from: ["FINALIZED"],
    expectedStatus: 200,
    rule: "only a FINALIZED invoice can be paid"
  },
  voided: {
    request: ({ id }) => ["POST", `/invoices/${id}/void`],
    from: ["DRAFT", "FINALIZED"],
    expectedStatus: 200,
    rule: "only a DRAFT or FINALIZED invoice can be voided"
  },
  "extended by a line": {
    request: ({ id }) => ["POST", "/billables", { invoiceId: id, billables: [lineOf()] }],
    expectedStatus: 201,
    ...onlyDrafts
  },
  "changed in a line": {
    request: ({ line }) => ["PATCH", `/billables/${line}`, { name: "Other", amountMinor: 1 }],
    expectedStatus: 200,
    ...onlyDrafts
  },
  "reduced by a line": { request: ({ line }) => ["DELETE", `/billables/${line}`], expectedStatus: 204, ...onlyDrafts }
}

describe("An invoice", () => {
  const fixture = useFixture(startServiceWithPool)

  const createClient = async () => invoiceClient(fixture().service, await fixture().service.newTenant())
  const reference = { referenceType: "work", referenceId: "1" }

  for (const status of invoiceStatuses) {
    for (const [action, { expectedStatus, from, request, rule }] of Object.entries(actions)) {
      const isAllowed = from.includes(status)
      it(`that is ${status} ${isAllowed ? "can" : "cannot"} be ${action}`, async () => {
        const { call, invoiceIn, tenant } = await createClient()
        const target = await invoiceIn(status, {}, reference)
        const before = await readInvoicingRows(fixture().pool, tenant)
        const response = await call(...request(target))
        if (isAllowed) {
          assert.strictEqual(response.status, expectedStatus, response.text)
          assert.isAbove((await readInvoicingRows(fixture().pool, tenant)).events.length, before.events.length)
        } else {
          assertValidationError(response, ["status", "state", `is ${status}; ${rule}`])
          assert.deepStrictEqual(await readInvoicingRows(fixture().pool, tenant), before)
        }
      })
    }
  }

  it("changes its status once under concurrent requests", async () => {
    const { draft, add, read, tryTransition } = await createClient()
    const { id } = await draft()
    await add(id, {})
    for (const [transition, status, rule] of [
      ["finalize", "FINALIZED", "only a DRAFT invoice can be finalized"],
      ["pay", "PAID", "only a FINALIZED invoice can be paid"]
    ] as const) {
      const responses = await Promise.all(Array.from({ length: 10 }, () => tryTransition(id, transition)))
      assert.lengthOf(
        responses.filter((response) => response.status === 200),
        1,
        transition
      )
      for (const response of responses) {
        if (response.status !== 200) assertValidationError(response, ["status", "state", `is ${status}; ${rule}`])
      }
    }
    assert.strictEqual((await read(id)).status, "PAID")
  })

  it("is either PAID or VOID after concurrent requests for both", async () => {
    const { invoiceIn, read, tryTransition } = await createClient()
    for (let round = 0; round < 5; round++) {
      const { id } = await invoiceIn("FINALIZED")
      const [paid, voided] = await Promise.all([tryTransition(id, "pay"), tryTransition(id, "void")])
      assert.deepStrictEqual([paid.status, voided.status].sort(), [200, 400])
      assert.strictEqual((await read(id)).status, paid.status === 200 ? "PAID" : "VOID")
    }
  })

  it("is finalized with exactly its lines while lines are added concurrently", async () => {
    const { invoiceIn, lines, read, tryAdd, tryTransition } = await createClient()
    const { id } = await invoiceIn("DRAFT")
    const adding = Array.from({ length: 12 }, (_, n) => tryAdd(id, { amountMinor: n + 1 }))
    const [finalized, ...added] = await Promise.all([tryTransition(id, "finalize"), ...adding])
    assert.strictEqual(finalized?.status, 200)
    const kept = await lines(id)
    assert.lengthOf(kept, 1 + added.filter(({ status }) => status === 201).length)
    const total = kept.reduce((sum, { lineTotalMinor }) => sum + lineTotalMinor, 0)
    assert.deepInclude(finalized.body.data, { totalMinor: total, billableCount: kept.length })
    assert.deepStrictEqual(await read(id), finalized.body.data)
  })

  describe("is protected by the database", () => {
    const rejectedChanges: Readonly<Record<Exclude<Status, "DRAFT">, ReadonlyArray<string>>> = {
      FINALIZED: [
        "subtotal_minor = 1, total_minor = 1",
        "total_minor = total_minor + 1, subtotal_minor = subtotal_minor + 1",
        "billable_count = 2",
        "invoice_number = 'INV-2026-000099'",
        "invoice_number = null, issued_at = null, period = null, place = null, parties = null",
        "place = 99",
        "period = '1999'",
        "currency_code = 'USD'",
        "contract_id = 'ctr_other'",
        "issued_at = issued_at + interval '1 day'",
        "due_at = due_at + interval '1 day'",
        "due_at = null",
        "created_at = created_at - interval '1 day'",
        "parties = '{}'",
        "buyer_reference = 'x'",
        "purchase_order = 'x'",
        "notes = 'x'",
        "service_from = '2026-01-01'",
        "service_to = '2026-01-01'",
        "deliver_to_country = 'NO'",
        "tax_currency_code = 'SEK', tax_currency_rate = 11",
        "id = 'inv_other'",
        "status = 'PAID', paid_at = now(), subtotal_minor = 1, total_minor = 1"
      ],
      PAID: [
        "status = 'FINALIZED', paid_at = null",
        "status = 'VOID', paid_at = null",
        "paid_at = paid_at + interval '1 day'",
        "updated_at = now()",
        "sequence = sequence + 1, updated_at = now()",
        "subtotal_minor = 1, total_minor = 1"
      ],
      VOID: [
        "status = 'FINALIZED'",
        "status = 'PAID', paid_at = now()",
        "updated_at = now()",
        "sequence = sequence + 1, updated_at = now()",
        "invoice_number = 'INV-2026-000099'",
        "subtotal_minor = 1, total_minor = 1"
      ]
    }

    for (const [status, changes] of Object.entries(rejectedChanges)) {
      it(`from changes of its frozen columns when it is ${status}`, async () => {
        const { invoiceIn, tenant } = await createClient()
        const { id } = await invoiceIn(status as keyof typeof rejectedChanges) // the keys of the table above
        const before = await readInvoicingRows(fixture().pool, tenant)
        for (const change of changes) {
          const failure = await fixture()
            .pool.query(`update invoices set ${change} where id = $1`, [id])
            .catch((error) => error)
          assert.deepInclude(
            failure,
            { code: "23001", message: `invoice ${id} is ${status} and cannot be changed` },
            change
          )
        }
        assert.deepStrictEqual(await readInvoicingRows(fixture().pool, tenant), before)
      })
    }

    it.each(["FINALIZED", "PAID", "VOID"] as const)(
      "but counts its events when it is %s, which mails add",
      async (status) => {
        const { invoiceIn } = await createClient()
        const { id } = await invoiceIn(status)
        const { rowCount } = await fixture().pool.query("update invoices set sequence = sequence + 1 where id = $1", [
          id
        ])
        assert.strictEqual(rowCount, 1)
      }
    )

    it("from an invalid combination of status, number, payment and totals", async () => {
      const { invoiceIn } = await createClient()
      const broken: ReadonlyArray<readonly [Status, string]> = [
        ["FINALIZED", "status = 'DRAFT'"],
        ["FINALIZED", "status = 'OVERDUE'"],
        ["FINALIZED", "status = 'PAID'"],
        ["FINALIZED", "paid_at = now()"],
        ["DRAFT", "status = 'FINALIZED'"],
        ["DRAFT", "invoice_number = 'INV-2026-000099'"],
        ["DRAFT", "total_minor = total_minor + 1"],
        ["DRAFT", "billable_count = -1"],
        ["DRAFT", "service_from = '2026-02-01', service_to = '2026-01-31'"],
        ["DRAFT", "tax_currency_code = 'SEK'"],
        ["DRAFT", "tax_currency_rate = 11"],
        ["DRAFT", "tax_currency_code = 'SEK', tax_currency_rate = 0"],
        ["DRAFT", "tax_currency_code = currency_code, tax_currency_rate = 1"]
      ]
      for (const [status, change] of broken) {
        const { id } = await invoiceIn(status)
        const failure = await fixture()
          .pool.query(`update invoices set ${change} where id = $1`, [id])
          .catch((error) => error)
        assert.strictEqual(failure.code, "23514", `${change} when it is ${status}`)
      }
    })
  })
})

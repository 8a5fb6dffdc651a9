import { assert, describe, it } from "vitest"
import { assertValidationError } from "../../support/assertions/failures.ts"
import { invoiceClient, invoiceStatuses, ledgerOf, lineOf } from "../../support/fixtures/invoices.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { startServiceWithPool } from "../../support/servers/serviceWithPool.ts"

type Status = (typeof invoiceStatuses)[number]
type Target = Readonly<Record<"id" | "line", string>>
type Request = readonly [method: string, path: string, body?: object]

interface Action {
  readonly request: (on: Target) => Request
  /** The statuses it is allowed in, and what it answers then. */
  readonly from: ReadonlyArray<Status>
  readonly answer: number
  /** What it is told in every other status. */
  readonly rule: string
}

const onlyDrafts = {
  from: ["DRAFT"],
  rule: "only a DRAFT and its lines can be changed or deleted"
} satisfies Partial<Action>

const actions: Readonly<Record<string, Action>> = {
  changed: {
    request: ({ id }) => ["PATCH", `/invoices/${id}`, { dueAt: "2031-01-31T00:00:00Z" }],
    answer: 200,
    ...onlyDrafts
  },
  deleted: { request: ({ id }) => ["DELETE", `/invoices/${id}`], answer: 204, ...onlyDrafts },
  finalized: {
    request: ({ id }) => ["POST", `/invoices/${id}/finalize`],
    from: ["DRAFT"],
    answer: 200,
    rule: "only DRAFT can be finalized"
  },
  paid: {
    request: ({ id }) => ["POST", `/invoices/${id}/pay`],
    from: ["FINALIZED"],
    answer: 200,
    rule: "only FINALIZED can be paid"
  },
  voided: {
    request: ({ id }) => ["POST", `/invoices/${id}/void`],
    from: ["DRAFT", "FINALIZED"],
    answer: 200,
    rule: "only DRAFT or FINALIZED can be voided"
  },
  "given another line": {
    request: ({ id }) => ["POST", "/billables", { invoiceId: id, billables: [lineOf()] }],
    answer: 201,
    ...onlyDrafts
  },
  "changed in a line": {
    request: ({ line }) => ["PATCH", `/billables/${line}`, { name: "Other", amountMinor: 1 }],
    answer: 200,
    ...onlyDrafts
  },
  "rid of a line": { request: ({ line }) => ["DELETE", `/billables/${line}`], answer: 204, ...onlyDrafts }
}

describe("an invoice's status", () => {
  const at = useFixture(startServiceWithPool)

  const stage = async () => invoiceClient(at().service, await at().service.newTenant())
  const reference = { referenceType: "work", referenceId: "1" }

  for (const status of invoiceStatuses) {
    for (const [what, { answer, from, request, rule }] of Object.entries(actions)) {
      const isAllowed = from.includes(status)
      it(`of ${status} ${isAllowed ? "lets" : "does not let"} it be ${what}`, async () => {
        const { call, invoiceIn, tenant } = await stage()
        const target = await invoiceIn(status, {}, reference)
        const before = await ledgerOf(at().pool, tenant)
        const answered = await call(...request(target))
        if (isAllowed) {
          assert.strictEqual(answered.status, answer, answered.text)
          assert.isAbove((await ledgerOf(at().pool, tenant)).events.length, before.events.length)
        } else {
          assertValidationError(answered, ["status", "state", `is ${status}; ${rule}`])
          assert.deepStrictEqual(await ledgerOf(at().pool, tenant), before)
        }
      })
    }
  }

  it("moves once, however many move it at the same time", async () => {
    const { draft, add, read, tryMove } = await stage()
    const { id } = await draft()
    await add(id, {})
    for (const [move, status, rule] of [
      ["finalize", "FINALIZED", "only DRAFT can be finalized"],
      ["pay", "PAID", "only FINALIZED can be paid"]
    ] as const) {
      const answers = await Promise.all(Array.from({ length: 10 }, () => tryMove(id, move)))
      assert.lengthOf(
        answers.filter((answer) => answer.status === 200),
        1,
        move
      )
      for (const answer of answers) {
        if (answer.status !== 200) assertValidationError(answer, ["status", "state", `is ${status}; ${rule}`])
      }
    }
    assert.strictEqual((await read(id)).status, "PAID")
  })

  it("is either paid or void when both are asked for at once", async () => {
    const { invoiceIn, read, tryMove } = await stage()
    for (let round = 0; round < 5; round++) {
      const { id } = await invoiceIn("FINALIZED")
      const [paid, voided] = await Promise.all([tryMove(id, "pay"), tryMove(id, "void")])
      assert.deepStrictEqual([paid.status, voided.status].sort(), [200, 400])
      assert.strictEqual((await read(id)).status, paid.status === 200 ? "PAID" : "VOID")
    }
  })

  it("freezes exactly the lines that were there, while others add to them", async () => {
    const { invoiceIn, lines, read, tryAdd, tryMove } = await stage()
    const { id } = await invoiceIn("DRAFT")
    const adding = Array.from({ length: 12 }, (_, n) => tryAdd(id, { amountMinor: n + 1 }))
    const [finalized, ...added] = await Promise.all([tryMove(id, "finalize"), ...adding])
    assert.strictEqual(finalized?.status, 200)
    const kept = await lines(id)
    assert.lengthOf(kept, 1 + added.filter(({ status }) => status === 201).length)
    const total = kept.reduce((sum, { lineTotalMinor }) => sum + lineTotalMinor, 0)
    assert.deepInclude(finalized.body.data, { totalMinor: total, billableCount: kept.length })
    assert.deepStrictEqual(await read(id), finalized.body.data)
  })

  describe("is kept by the database itself", () => {
    const refusals: Readonly<Record<Exclude<Status, "DRAFT">, ReadonlyArray<string>>> = {
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
        "id = 'inv_other'",
        "status = 'PAID', paid_at = now(), subtotal_minor = 1, total_minor = 1"
      ],
      PAID: [
        "status = 'FINALIZED', paid_at = null",
        "status = 'VOID', paid_at = null",
        "paid_at = paid_at + interval '1 day'",
        "updated_at = now()",
        "sequence = sequence + 1",
        "subtotal_minor = 1, total_minor = 1"
      ],
      VOID: [
        "status = 'FINALIZED'",
        "status = 'PAID', paid_at = now()",
        "updated_at = now()",
        "sequence = sequence + 1",
        "invoice_number = 'INV-2026-000099'",
        "subtotal_minor = 1, total_minor = 1"
      ]
    }

    for (const [status, changes] of Object.entries(refusals)) {
      it(`against every change to what is settled in one that is ${status}`, async () => {
        const { invoiceIn, tenant } = await stage()
        const { id } = await invoiceIn(status as keyof typeof refusals) // the keys of the table above
        const before = await ledgerOf(at().pool, tenant)
        for (const change of changes) {
          const failure = await at()
            .pool.query(`update invoices set ${change} where id = $1`, [id])
            .catch((error) => error)
          assert.deepInclude(
            failure,
            { code: "23001", message: `invoice ${id} is ${status} and cannot be changed` },
            change
          )
        }
        assert.deepStrictEqual(await ledgerOf(at().pool, tenant), before)
      })
    }

    it("against going back to DRAFT, and against a number or a payment out of place", async () => {
      const { invoiceIn } = await stage()
      const broken: ReadonlyArray<readonly [Status, string]> = [
        ["FINALIZED", "status = 'DRAFT'"],
        ["FINALIZED", "status = 'OVERDUE'"],
        ["FINALIZED", "status = 'PAID'"],
        ["FINALIZED", "paid_at = now()"],
        ["DRAFT", "status = 'FINALIZED'"],
        ["DRAFT", "invoice_number = 'INV-2026-000099'"],
        ["DRAFT", "total_minor = total_minor + 1"],
        ["DRAFT", "billable_count = -1"]
      ]
      for (const [status, change] of broken) {
        const { id } = await invoiceIn(status)
        const failure = await at()
          .pool.query(`update invoices set ${change} where id = $1`, [id])
          .catch((error) => error)
        assert.strictEqual(failure.code, "23514", `${change} of one that is ${status}`)
      }
    })
  })
})

import type pg from "pg"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { openPool } from "../support/database.ts"
import { assertFailure, assertInvalid, notFoundText } from "../support/failure.ts"
import { billedUnder, invoicingIn } from "../support/invoicing.ts"
import { makerIn, type Shown } from "../support/resources.ts"
import { type Service, startService } from "../support/service.ts"

const day = 86_400_000
const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const inDays = (days: number, from: unknown = new Date().toISOString()) =>
  new Date(Date.parse(String(from)) + days * day).toISOString()

describe("an invoice", () => {
  let service: Service
  let pool: pg.Pool
  beforeAll(async () => {
    service = await startService()
    pool = openPool(service.database.url)
  })
  afterAll(async () => {
    await pool.end()
    await service.stop()
  })

  const stage = async () => invoicingIn(service, await service.newTenant())

  it("goes from draft to paid", async () => {
    const { add, call, contract, draft, move, read } = await stage()
    const { id: contractId } = await contract({ paymentTermDays: 14 })
    const created = await draft({ contractId })
    const { id } = created
    await add(id, { name: "Pumps", quantity: 1.5, amountMinor: 333 }, { name: "Discount", amountMinor: -100 })
    const drafted = await read(id)
    assert.deepStrictEqual(drafted, {
      ...created,
      subtotalMinor: 400,
      totalMinor: 400,
      billableCount: 2,
      updatedAt: drafted.updatedAt
    })

    const finalized = await move(id, "finalize")
    const { dueAt, invoiceNumber, issuedAt, updatedAt } = finalized
    assert.deepStrictEqual(finalized, {
      ...drafted,
      status: "FINALIZED",
      invoiceNumber,
      issuedAt,
      dueAt,
      updatedAt
    })
    assert.match(String(issuedAt), moment)
    assert.strictEqual(invoiceNumber, `INV-${String(issuedAt).slice(0, 4)}-000001`)
    assert.strictEqual(dueAt, inDays(14, issuedAt))
    assert.deepStrictEqual(await read(id), finalized)

    const paid = await move(id, "pay")
    assert.match(String(paid["paidAt"]), moment)
    assert.deepStrictEqual(paid, { ...finalized, status: "PAID", paidAt: paid["paidAt"], updatedAt: paid.updatedAt })
    assert.deepStrictEqual(await read(id), paid)
    assert.strictEqual((await call("GET", `/invoices/${id}/explain`)).body.data.totalMinor, 400)
  })

  describe("as a draft", () => {
    it("is empty, and in its contract's currency unless told the same", async () => {
      const { call, contract } = await stage()
      const { id: contractId } = await contract({ currencyCode: "KWD" })
      for (const currency of [{}, { currencyCode: "KWD" }]) {
        const made = await call("POST", "/invoices", { contractId, ...currency })
        const { createdAt, id, updatedAt, ...rest } = made.body.data
        assert.strictEqual(made.status, 201)
        assert.match(id, /^inv_[0-9a-z]{26}$/)
        assert.match(createdAt, moment)
        assert.strictEqual(updatedAt, createdAt)
        assert.strictEqual(made.headers.get("location"), `/api/v1/invoices/${id}`)
        assert.deepStrictEqual(rest, {
          contract: contractId,
          status: "DRAFT",
          currencyCode: "KWD",
          subtotalMinor: 0,
          totalMinor: 0,
          billableCount: 0
        })
        assert.strictEqual((await call("GET", `/invoices/${id}`)).text, made.text)
      }
    })

    it("is not made in another currency than its contract's", async () => {
      const { call, contract } = await stage()
      const { id: contractId } = await contract()
      assertInvalid(await call("POST", "/invoices", { contractId, currencyCode: "USD" }), [
        "currencyCode",
        "currency",
        "must be the contract's, EUR"
      ])
      assertInvalid(await call("POST", "/invoices", { contractId, currencyCode: "XXX" }), [
        "currencyCode",
        "currency",
        "must be an ISO 4217 currency code such as EUR"
      ])
      assert.deepStrictEqual((await call("GET", "/invoices")).body.data, [])
    })

    it("is made under a contract that is ACTIVE or ENDED, but not under a DRAFT", async () => {
      const { call, contract } = await stage()
      const { id: contractId } = await contract({ status: "DRAFT" })
      const make = () => call("POST", "/invoices", { contractId })
      const become = (status: string) => call("PATCH", `/contracts/${contractId}`, { status })
      assertInvalid(await make(), [
        "contractId",
        "state",
        "is a DRAFT; only ACTIVE and ENDED contracts can be invoiced"
      ])
      for (const status of ["ACTIVE", "ENDED"]) {
        assert.strictEqual((await become(status)).status, 200)
        assert.strictEqual((await make()).status, 201, status)
      }
    })

    it("is not made under a contract that is not there or another tenant's", async () => {
      const { call } = await stage()
      const elsewhere = await (await stage()).contract()
      for (const contractId of [elsewhere.id, "ctr_none"]) {
        assertInvalid(await call("POST", "/invoices", { contractId }), [
          "contractId",
          "exists",
          "names nothing in this tenant"
        ])
      }
    })

    it("takes nothing that only the service decides", async () => {
      const { call, contract, draft } = await stage()
      const { id: contractId } = await contract()
      const { id } = await draft({ contractId })
      const decided = {
        status: "PAID",
        invoiceNumber: "1",
        subtotalMinor: 1,
        totalMinor: 1,
        billableCount: 1,
        issuedAt: inDays(0),
        paidAt: inDays(0)
      }
      for (const [field, value] of Object.entries(decided)) {
        const unknown = [field, "unknown", "is not a known property"] as const
        assertInvalid(await call("POST", "/invoices", { contractId, [field]: value }), unknown)
        assertInvalid(await call("PATCH", `/invoices/${id}`, { [field]: value }), unknown)
      }
      for (const field of ["contractId", "contract", "currencyCode"]) {
        const fault = [field, "unknown", "is not a known property"] as const
        assertInvalid(await call("PATCH", `/invoices/${id}`, { [field]: contractId }), fault)
      }
    })

    it("can be given a due date, another one, and none", async () => {
      const { call, draft } = await stage()
      const made = await draft({ dueAt: "2031-01-31T09:30:00Z" })
      assert.strictEqual(made["dueAt"], "2031-01-31T09:30:00.000Z")
      const change = async (dueAt: string | null) => (await call("PATCH", `/invoices/${made.id}`, { dueAt })).body.data
      const other = await change("2032-01-31T09:30:00.5Z")
      assert.deepStrictEqual(other, { ...made, dueAt: "2032-01-31T09:30:00.500Z", updatedAt: other.updatedAt })
      const none = await change(null)
      assert.notProperty(none, "dueAt")
      assert.deepStrictEqual((await call("GET", `/invoices/${made.id}`)).body.data, none)
      assertInvalid(await call("PATCH", `/invoices/${made.id}`, { dueAt: "tomorrow" }), [
        "dueAt",
        "format",
        "must be a date and time in UTC such as 2026-11-14T09:30:00Z"
      ])
      assertInvalid(await call("PATCH", `/invoices/${made.id}`, {}), [
        "body",
        "required",
        "must name at least one field to change"
      ])
    })

    it("is deleted together with its lines, and gives back what it billed", async () => {
      const { add, call, contract, draft, lines } = await stage()
      const { id: contractId } = await contract()
      const kept = await draft({ contractId })
      const gone = await draft({ contractId })
      const keptLines = await add(kept.id, { amountMinor: 7 })
      const goneLines = await add(gone.id, {}, {}, {})
      assert.strictEqual(await billedUnder(pool, contractId), 307)
      assert.strictEqual((await call("DELETE", `/invoices/${gone.id}`)).status, 204)
      assertFailure(await call("GET", `/invoices/${gone.id}`), 404, notFoundText)
      assertFailure(await call("DELETE", `/invoices/${gone.id}`), 404, notFoundText)
      for (const { id } of goneLines) assertFailure(await call("GET", `/billables/${id}`), 404, notFoundText)
      assert.deepStrictEqual(await lines(gone.id), [])
      assert.deepStrictEqual(await lines(kept.id), keptLines)
      assert.strictEqual(await billedUnder(pool, contractId), 7)
    })
  })

  describe("when it is finalized", () => {
    it.each([0, 1, 30, 365])("is due after the %i days of its contract", async (paymentTermDays) => {
      const { add, contract, draft, move } = await stage()
      const { id } = await draft({ contractId: (await contract({ paymentTermDays })).id })
      await add(id, {})
      const { dueAt, issuedAt } = await move(id, "finalize")
      assert.strictEqual(dueAt, inDays(paymentTermDays, issuedAt))
    })

    it("keeps a due date of its own", async () => {
      const { add, draft, move } = await stage()
      const dueAt = inDays(3)
      const { id } = await draft({ dueAt })
      await add(id, {})
      assert.strictEqual((await move(id, "finalize"))["dueAt"], dueAt)
    })

    it("cannot be due before it is issued, and takes no number in the attempt", async () => {
      const { add, call, draft, move, read, tryMove } = await stage()
      const { id } = await draft({ dueAt: "2020-01-01T00:00:00Z" })
      await add(id, {})
      const before = await read(id)
      assertInvalid(await tryMove(id, "finalize"), ["dueAt", "min", "must not be before the invoice is issued"])
      assert.deepStrictEqual(await read(id), before)
      assert.strictEqual((await call("PATCH", `/invoices/${id}`, { dueAt: null })).status, 200)
      assert.match(String((await move(id, "finalize"))["invoiceNumber"]), /^INV-\d{4}-000001$/)
    })

    it("needs a line", async () => {
      const { add, call, draft, move, tryMove } = await stage()
      const { id } = await draft()
      const empty = ["billableCount", "min", "must be at least 1 to be finalized"] as const
      assertInvalid(await tryMove(id, "finalize"), empty)
      const [line] = await add(id, {})
      await call("DELETE", `/billables/${line?.id}`)
      assertInvalid(await tryMove(id, "finalize"), empty)
      await add(id, {})
      await move(id, "finalize")
    })

    it("cannot come to less than nothing, but can come to nothing", async () => {
      const { add, draft, move, tryMove } = await stage()
      const { id } = await draft()
      await add(id, { amountMinor: -1 })
      assertInvalid(await tryMove(id, "finalize"), ["totalMinor", "min", "must not be negative to be finalized"])
      await add(id, { amountMinor: 1 })
      assert.deepInclude(await move(id, "finalize"), { status: "FINALIZED", totalMinor: 0 })
    })

    it("gets the next number of its tenant, and its date never goes back", async () => {
      const one = await stage()
      const other = await stage()
      const issued: Array<string> = []
      for (let n = 1; n <= 3; n++) {
        const { id } = await one.draft()
        await one.add(id, {})
        const { invoiceNumber, issuedAt } = await one.move(id, "finalize")
        assert.match(String(invoiceNumber), new RegExp(`^INV-\\d{4}-00000${n}$`))
        issued.push(String(issuedAt))
      }
      assert.deepStrictEqual(issued, [...issued].sort())
      const { id } = await other.draft()
      await other.add(id, {})
      assert.match(String((await other.move(id, "finalize"))["invoiceNumber"]), /-000001$/)
    })

    it("keeps its parties, whatever becomes of them", async () => {
      const { add, call, draft, move, tenant } = await stage()
      const { make } = makerIn(service, tenant)
      const client: Shown = await make("clients", { name: "Northwind" })
      const theirs = await make("addresses", { clientId: client.id, name: "Northwind Ltd", order: 1 })
      await make("addresses", { clientId: client.id, name: "Warehouse", order: 2 })
      const ours = await make("addresses", { clientId: undefined, name: "Harbour Works" })
      const agreed = await make("contracts", { clientId: client.id, name: "Pumps", status: "ACTIVE" })
      const { id } = await draft({ contractId: agreed.id })
      await add(id, {})
      await move(id, "finalize")
      const frozen = async () => {
        const { rows } = await pool.query<{ parties: unknown }>("select parties from invoices where id = $1", [id])
        return rows[0]?.parties
      }
      const parties = {
        tenant: { name: "Tenant", address: ours },
        client: { name: "Northwind", address: theirs },
        contract: { name: "Pumps" }
      }
      assert.deepStrictEqual(await frozen(), parties)

      const changes: ReadonlyArray<Promise<{ readonly status: number }>> = [
        call("PATCH", `/clients/${client.id}`, { name: "Southwind" }),
        call("PATCH", `/contracts/${agreed.id}`, { name: "Valves", paymentTermDays: 1 }),
        call("PATCH", `/tenants/${tenant}`, { name: "Renamed" }),
        call("PATCH", `/addresses/${ours.id}`, { city: "Oslo" })
      ]
      for (const { status } of await Promise.all(changes)) assert.strictEqual(status, 200)
      assert.strictEqual((await call("DELETE", `/addresses/${theirs.id}`)).status, 204)
      const paid = await move(id, "pay")
      assert.strictEqual(paid["dueAt"], inDays(30, paid["issuedAt"]))
      assert.deepStrictEqual(await frozen(), parties)
    })
  })

  describe("when it is void", () => {
    it("keeps its number, its total and its lines", async () => {
      const { invoiceIn, lines, move, read } = await stage()
      const { id } = await invoiceIn("FINALIZED")
      const before = await read(id)
      const ofBefore = await lines(id)
      const after = await move(id, "void")
      assert.deepStrictEqual(after, { ...before, status: "VOID", updatedAt: after.updatedAt })
      assert.deepStrictEqual(await lines(id), ofBefore)
    })

    it("has no number if it was a draft", async () => {
      const { invoiceIn, move } = await stage()
      const after = await move((await invoiceIn("DRAFT")).id, "void")
      assert.deepInclude(after, { status: "VOID", totalMinor: 100, billableCount: 1 })
      for (const field of ["invoiceNumber", "issuedAt", "dueAt", "paidAt"]) assert.notProperty(after, field)
    })
  })

  it("explains each product, each rounding and each sum", async () => {
    const { add, call, contract, draft } = await stage()
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
      rounding: "half away from zero, once for each line",
      lines: [
        {
          billable: tiny?.id,
          name: "Tiny",
          quantity: "0.000000000001",
          amountMinor: 3,
          product: "0.000000000003",
          roundedBy: "-0.000000000003",
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
          lineTotalMinor: -3,
          runningTotalMinor: 98
        }
      ],
      subtotalMinor: 98,
      totalMinor: 98
    })
  })

  it("is found by its contract, its status and whether it is overdue", async () => {
    const { call, contract, draft, invoiceIn } = await stage()
    const [late, early] = [await contract({ paymentTermDays: 0 }), await contract()]
    const made: Record<string, string> = { bare: (await draft({ contractId: early.id, dueAt: inDays(-1) })).id }
    for (const status of ["DRAFT", "FINALIZED", "PAID", "VOID"] as const) {
      made[`${status} late`] = (await invoiceIn(status, { contractId: late.id })).id
      made[`${status} early`] = (await invoiceIn(status, { contractId: early.id })).id
    }
    const found = async (query: string) => {
      const { body, status, text } = await call("GET", `/invoices?${query}`)
      assert.strictEqual(status, 200, text)
      const ids = body.data.map(({ id }: Shown) => id)
      return Object.keys(made).filter((name) => ids.includes(made[name]))
    }
    const all = Object.keys(made)
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
    for (const [query, names] of Object.entries(expected)) assert.deepStrictEqual(await found(query), names, query)
    assertInvalid(
      await call("GET", "/invoices?status=OVERDUE&overdue=yes&contractId=inv_a"),
      ["contractId", "format", "must be a contract identifier (ctr_…)"],
      ["status", "enum", "must be one of DRAFT, FINALIZED, PAID, VOID"],
      ["overdue", "enum", "must be one of true, false"]
    )
  })
})

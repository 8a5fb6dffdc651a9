import { assert, describe, it } from "vitest"
import { assertFailure, assertValidationError, notFoundText } from "../../support/assertions/failures.ts"
import { daysFromNow, timestampPattern } from "../../support/fixtures/dates.ts"
import { billedUnder, invoiceClient } from "../../support/fixtures/invoices.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { startServiceWithPool } from "../../support/servers/serviceWithPool.ts"

describe("a draft of an invoice", () => {
  const at = useFixture(startServiceWithPool)
  const stage = async () => invoiceClient(at().service, await at().service.newTenant())

  it("is empty, and in its contract's currency unless told the same", async () => {
    const { call, contract } = await stage()
    const { id: contractId } = await contract({ currencyCode: "KWD" })
    for (const currency of [{}, { currencyCode: "KWD" }]) {
      const made = await call("POST", "/invoices", { contractId, ...currency })
      const { createdAt, id, updatedAt, ...rest } = made.body.data
      assert.strictEqual(made.status, 201)
      assert.match(id, /^inv_[0-9a-z]{26}$/)
      assert.match(createdAt, timestampPattern)
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
    assertValidationError(await call("POST", "/invoices", { contractId, currencyCode: "USD" }), [
      "currencyCode",
      "currency",
      "must be the contract's, EUR"
    ])
    assertValidationError(await call("POST", "/invoices", { contractId, currencyCode: "XXX" }), [
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
    assertValidationError(await make(), [
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
      assertFailure(await call("POST", "/invoices", { contractId }), 404, notFoundText)
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
      issuedAt: daysFromNow(0),
      paidAt: daysFromNow(0)
    }
    for (const [field, value] of Object.entries(decided)) {
      const unknown = [field, "unknown", "is not a known property"] as const
      assertValidationError(await call("POST", "/invoices", { contractId, [field]: value }), unknown)
      assertValidationError(await call("PATCH", `/invoices/${id}`, { [field]: value }), unknown)
    }
    for (const field of ["contractId", "contract", "currencyCode"]) {
      const fault = [field, "unknown", "is not a known property"] as const
      assertValidationError(await call("PATCH", `/invoices/${id}`, { [field]: contractId }), fault)
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
    assertValidationError(await call("PATCH", `/invoices/${made.id}`, { dueAt: "tomorrow" }), [
      "dueAt",
      "format",
      "must be a date and time in UTC such as 2026-11-14T09:30:00Z"
    ])
    assertValidationError(await call("PATCH", `/invoices/${made.id}`, {}), [
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
    assert.strictEqual(await billedUnder(at().pool, contractId), 307)
    assert.strictEqual((await call("DELETE", `/invoices/${gone.id}`)).status, 204)
    assertFailure(await call("GET", `/invoices/${gone.id}`), 404, notFoundText)
    assertFailure(await call("DELETE", `/invoices/${gone.id}`), 404, notFoundText)
    for (const { id } of goneLines) assertFailure(await call("GET", `/billables/${id}`), 404, notFoundText)
    assert.deepStrictEqual(await lines(gone.id), [])
    assert.deepStrictEqual(await lines(kept.id), keptLines)
    assert.strictEqual(await billedUnder(at().pool, contractId), 7)
  })
})

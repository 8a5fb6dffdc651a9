import { assert, describe, it } from "vitest"
import { assertFailure, assertValidationError, notFoundText } from "../../support/assertions/failures.ts"
import { daysFromNow, timestampPattern } from "../../support/fixtures/dates.ts"
import { invoiceClient, readBilledMinor } from "../../support/fixtures/invoices.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { startServiceWithPool } from "../../support/servers/serviceWithPool.ts"

describe("A draft invoice", () => {
  const fixture = useFixture(startServiceWithPool)
  const createClient = async () => invoiceClient(fixture().service, await fixture().service.newTenant())

  it("is created empty in the currency of its contract", async () => {
    const { call, contract } = await createClient()
    const { id: contractId } = await contract({ currencyCode: "KWD" })
    for (const currency of [{}, { currencyCode: "KWD" }]) {
      const invoice = await call("POST", "/invoices", { contractId, ...currency })
      const { createdAt, id, updatedAt, ...rest } = invoice.body.data
      assert.strictEqual(invoice.status, 201)
      assert.match(id, /^inv_[0-9a-z]{26}$/)
      assert.match(createdAt, timestampPattern)
      assert.strictEqual(updatedAt, createdAt)
      assert.strictEqual(invoice.headers.get("location"), `/api/v1/invoices/${id}`)
      assert.deepStrictEqual(rest, {
        contract: contractId,
        status: "DRAFT",
        currencyCode: "KWD",
        subtotalMinor: 0,
        discountMinor: 0,
        taxes: [],
        taxMinor: 0,
        totalMinor: 0,
        paidMinor: 0,
        creditedMinor: 0,
        writtenOffMinor: 0,
        balanceMinor: 0,
        billableCount: 0
      })
      assert.strictEqual((await call("GET", `/invoices/${id}`)).text, invoice.text)
    }
  })

  it("cannot be created in another currency than its contract", async () => {
    const { call, contract } = await createClient()
    const { id: contractId } = await contract()
    assertValidationError(await call("POST", "/invoices", { contractId, currencyCode: "USD" }), [
      "currencyCode",
      "currency",
      "must be EUR, the currency of the contract, but is USD"
    ])
    assertValidationError(await call("POST", "/invoices", { contractId, currencyCode: "XXX" }), [
      "currencyCode",
      "currency",
      "must be an ISO 4217 currency code such as EUR"
    ])
    assert.deepStrictEqual((await call("GET", "/invoices")).body.data, [])
  })

  it("is created under an ACTIVE or ENDED contract, but not under a DRAFT contract", async () => {
    const { call, contract } = await createClient()
    const { id: contractId } = await contract({ status: "DRAFT" })
    const createInvoice = () => call("POST", "/invoices", { contractId })
    const setStatus = (status: string) => call("PATCH", `/contracts/${contractId}`, { status })
    assertValidationError(await createInvoice(), [
      "contractId",
      "state",
      "is a DRAFT contract; only ACTIVE and ENDED contracts can be invoiced"
    ])
    for (const status of ["ACTIVE", "ENDED"]) {
      assert.strictEqual((await setStatus(status)).status, 200)
      assert.strictEqual((await createInvoice()).status, 201, status)
    }
  })

  it("cannot be created under an unknown contract or a contract of another tenant", async () => {
    const { call } = await createClient()
    const foreign = await (await createClient()).contract()
    for (const contractId of [foreign.id, "ctr_none"]) {
      assertFailure(await call("POST", "/invoices", { contractId }), 404, notFoundText)
    }
  })

  it("rejects the read-only fields", async () => {
    const { call, contract, draft } = await createClient()
    const { id: contractId } = await contract()
    const { id } = await draft({ contractId })
    const readOnly = {
      status: "PAID",
      invoiceNumber: "1",
      subtotalMinor: 1,
      totalMinor: 1,
      paidMinor: 1,
      creditedMinor: 1,
      writtenOffMinor: 1,
      balanceMinor: 1,
      billableCount: 1,
      issuedAt: daysFromNow(0),
      paidAt: daysFromNow(0)
    }
    for (const [field, value] of Object.entries(readOnly)) {
      const unknown = [field, "unknown", "is not a known property"] as const
      assertValidationError(await call("POST", "/invoices", { contractId, [field]: value }), unknown)
      assertValidationError(await call("PATCH", `/invoices/${id}`, { [field]: value }), unknown)
    }
    for (const field of ["contractId", "contract", "currencyCode"]) {
      const expectedError = [field, "unknown", "is not a known property"] as const
      assertValidationError(await call("PATCH", `/invoices/${id}`, { [field]: contractId }), expectedError)
    }
  })

  it("can get, change and lose a due date", async () => {
    const { call, draft } = await createClient()
    const invoice = await draft({ dueAt: "2031-01-31T09:30:00Z" })
    assert.strictEqual(invoice["dueAt"], "2031-01-31T09:30:00.000Z")
    const change = async (dueAt: string | null) => (await call("PATCH", `/invoices/${invoice.id}`, { dueAt })).body.data
    const other = await change("2032-01-31T09:30:00.5Z")
    assert.deepStrictEqual(other, { ...invoice, dueAt: "2032-01-31T09:30:00.500Z", updatedAt: other.updatedAt })
    const none = await change(null)
    assert.notProperty(none, "dueAt")
    assert.deepStrictEqual((await call("GET", `/invoices/${invoice.id}`)).body.data, none)
    assertValidationError(await call("PATCH", `/invoices/${invoice.id}`, { dueAt: "tomorrow" }), [
      "dueAt",
      "format",
      "must be a date and time in UTC such as 2026-11-14T09:30:00Z"
    ])
    assertValidationError(await call("PATCH", `/invoices/${invoice.id}`, {}), [
      "body",
      "required",
      "must contain at least one field to change"
    ])
  })

  it("is deleted together with its lines and its share of the billed amount", async () => {
    const { add, call, contract, draft, lines } = await createClient()
    const { id: contractId } = await contract()
    const kept = await draft({ contractId })
    const deleted = await draft({ contractId })
    const keptLines = await add(kept.id, { amountMinor: 7 })
    const deletedLines = await add(deleted.id, {}, {}, {})
    assert.strictEqual(await readBilledMinor(fixture().pool, contractId), 307)
    assert.strictEqual((await call("DELETE", `/invoices/${deleted.id}`)).status, 204)
    assertFailure(await call("GET", `/invoices/${deleted.id}`), 404, notFoundText)
    assertFailure(await call("DELETE", `/invoices/${deleted.id}`), 404, notFoundText)
    for (const { id } of deletedLines) assertFailure(await call("GET", `/billables/${id}`), 404, notFoundText)
    assert.deepStrictEqual(await lines(deleted.id), [])
    assert.deepStrictEqual(await lines(kept.id), keptLines)
    assert.strictEqual(await readBilledMinor(fixture().pool, contractId), 7)
  })
})

import { assert, describe, it } from "vitest"
import {
  assertFailure,
  assertValidationError,
  type ExpectedError,
  notFoundText
} from "../../support/assertions/failures.ts"
import { invoiceClient, readBilledMinor, readInvoicingRows } from "../../support/fixtures/invoices.ts"
import { lockRow } from "../../support/fixtures/rowLock.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { startServiceWithPool } from "../../support/servers/serviceWithPool.ts"

const maxAmount = 9007199254740991

describe("A contract", () => {
  const at = useFixture(startServiceWithPool)

  /** A contract with a cap of 1,000.00 EUR by default. */
  const makeContract = async (terms: object = {}) => {
    const invoicing = invoiceClient(at().service, await at().service.newTenant())
    const { id: contractId } = await invoicing.contract({ capMinor: 100_000, ...terms })
    const billed = () => readBilledMinor(at().pool, contractId)
    const change = (body: object) => invoicing.call("PATCH", `/contracts/${contractId}`, body)
    return { ...invoicing, contractId, billed, change, makeDraft: () => invoicing.draft({ contractId }) }
  }

  const beyondCap = (contract: string, amount: string, field = "billables"): ExpectedError => [
    field,
    "max",
    `would bring the billed amount of contract ${contract} to ${amount} EUR, above its capMinor of 1,000.00 EUR`
  ]

  it("can be billed up to its cap over all of its invoices, and no further", async () => {
    const { add, makeDraft, billed, contractId, tenant, tryAdd } = await makeContract()
    const [first, second] = [await makeDraft(), await makeDraft()]
    await add(first.id, { amountMinor: 60_000 })
    assertValidationError(await tryAdd(second.id, { amountMinor: 40_001 }), beyondCap(contractId, "1,000.01"))
    await add(second.id, { amountMinor: 40_000 })
    assert.strictEqual(await billed(), 100_000)
    const before = await readInvoicingRows(at().pool, tenant)
    for (const { id } of [first, second]) {
      assertValidationError(await tryAdd(id, { amountMinor: 1 }), beyondCap(contractId, "1,000.01"))
      assertValidationError(await tryAdd(id, { quantity: 0.5, amountMinor: 1 }), beyondCap(contractId, "1,000.01"))
    }
    assert.deepStrictEqual(await readInvoicingRows(at().pool, tenant), before)
    await add(first.id, { amountMinor: 0 }, { quantity: 0.4, amountMinor: 1 })
  })

  it("counts the sum of all lines of a request against its cap", async () => {
    const { add, makeDraft, billed, contractId, tryAdd } = await makeContract()
    const { id } = await makeDraft()
    await add(id, { amountMinor: 150_000 }, { amountMinor: -50_000 })
    assert.strictEqual(await billed(), 100_000)
    const lines = [{ amountMinor: -10 }, { amountMinor: 5 }, { amountMinor: 6 }]
    assertValidationError(await tryAdd(id, ...lines), beyondCap(contractId, "1,000.01"))
  })

  it("can be billed more after negative lines", async () => {
    const { add, makeDraft, billed, contractId, tryAdd } = await makeContract()
    const [first, second] = [await makeDraft(), await makeDraft()]
    await add(first.id, { amountMinor: 100_000 })
    await add(second.id, { amountMinor: -500 })
    await add(first.id, { amountMinor: 500 })
    assert.strictEqual(await billed(), 100_000)
    assertValidationError(await tryAdd(first.id, { amountMinor: 1 }), beyondCap(contractId, "1,000.01"))
  })

  it("can be billed more after a line is deleted or reduced, or an invoice deleted or voided", async () => {
    const { add, makeDraft, billed, call, transition, tryAdd } = await makeContract()
    const { id: second } = await makeDraft()
    const fill = async () => {
      const { id } = await makeDraft()
      const [line] = await add(id, { amountMinor: 100_000 })
      assert.strictEqual((await tryAdd(second, { amountMinor: 1 })).status, 400)
      return { id, line: line?.id }
    }
    const line = await fill()
    await call("DELETE", `/billables/${line.line}`)
    assert.strictEqual(await billed(), 0)
    const changed = await fill()
    await call("PATCH", `/billables/${changed.line}`, { amountMinor: 1 })
    assert.strictEqual(await billed(), 1)
    await call("DELETE", `/invoices/${changed.id}`)
    assert.strictEqual(await billed(), 0)
    await transition((await fill()).id, "void")
    assert.strictEqual(await billed(), 0)
    const finalized = await fill()
    await transition(finalized.id, "finalize")
    assert.strictEqual(await billed(), 100_000)
    await transition(finalized.id, "void")
    assert.strictEqual(await billed(), 0)
    const paid = await fill()
    await transition(paid.id, "finalize")
    await transition(paid.id, "pay")
    assert.strictEqual(await billed(), 100_000)
  })

  it("rejects the removal of a credit that would exceed its cap", async () => {
    const { add, makeDraft, call, contractId, tenant, tryTransition } = await makeContract()
    const [debit, credit] = [await makeDraft(), await makeDraft()]
    const [creditLine] = await add(credit.id, { amountMinor: -1 })
    const [debitLine] = await add(debit.id, { amountMinor: 100_001 })
    const before = await readInvoicingRows(at().pool, tenant)
    const beyond = (field: string) => beyondCap(contractId, "1,000.01", field)
    assertValidationError(await tryTransition(credit.id, "void"), beyond("status"))
    assertValidationError(await call("DELETE", `/invoices/${credit.id}`), beyond("status"))
    assertValidationError(await call("DELETE", `/billables/${creditLine?.id}`), beyond("id"))
    assertValidationError(await call("PATCH", `/billables/${creditLine?.id}`, { quantity: 0 }), beyond("quantity"))
    assertValidationError(
      await call("PATCH", `/billables/${debitLine?.id}`, { amountMinor: 100_002 }),
      beyondCap(contractId, "1,000.01", "quantity")
    )
    assert.deepStrictEqual(await readInvoicingRows(at().pool, tenant), before)
    assert.strictEqual((await call("DELETE", `/invoices/${debit.id}`)).status, 204)
    await tryTransition(credit.id, "void")
  })

  it("without a cap can be billed up to the largest safe integer", async () => {
    const { add, makeDraft, billed, contractId, tryAdd } = await makeContract({ capMinor: undefined })
    const [first, second] = [await makeDraft(), await makeDraft()]
    await add(first.id, { amountMinor: maxAmount - 1 })
    assertValidationError(await tryAdd(second.id, { amountMinor: 2 }), [
      "billables",
      "max",
      `would bring the billed amount of contract ${contractId} to more than 90,071,992,547,409.91 EUR`
    ])
    await add(second.id, { amountMinor: 1 })
    assert.strictEqual(await billed(), maxAmount)
  })

  it("with a cap of zero accepts only lines with a sum of zero", async () => {
    const { add, makeDraft, tryAdd } = await makeContract({ capMinor: 0 })
    const { id } = await makeDraft()
    await add(id, { amountMinor: 0 }, { amountMinor: 5 }, { amountMinor: -5 })
    assert.strictEqual((await tryAdd(id, { amountMinor: 1 })).status, 400)
  })

  it("formats its cap with the decimals of its currency in the error", async () => {
    const { makeDraft, contractId, tryAdd } = await makeContract({ currencyCode: "JPY", capMinor: 1_234_567 })
    assertValidationError(await tryAdd((await makeDraft()).id, { amountMinor: 2_000_000 }), [
      "billables",
      "max",
      `would bring the billed amount of contract ${contractId} to 2,000,000 JPY, above its capMinor of 1,234,567 JPY`
    ])
  })

  it("rejects a cap below the billed amount", async () => {
    const { add, makeDraft, change, tryAdd } = await makeContract()
    const { id } = await makeDraft()
    await add(id, { amountMinor: 50_000 })
    const tooLow = ["capMinor", "min", "must not be less than the amount that is already billed"] as const
    assertValidationError(await change({ capMinor: 49_999 }), tooLow)
    assertValidationError(await change({ capMinor: 0 }), tooLow)
    assert.strictEqual((await change({ capMinor: 50_000 })).status, 200)
    assert.strictEqual((await tryAdd(id, { amountMinor: 1 })).status, 400)
    assert.strictEqual((await change({ capMinor: null })).status, 200)
    await add(id, { amountMinor: 1_000_000 })
    assertValidationError(await change({ capMinor: 100_000 }), tooLow)
  })

  it("can change its currency until it has an invoice", async () => {
    const { makeDraft, call, change, transition } = await makeContract()
    const inUse = ["currencyCode", "inUse", "is still used by 1 invoice"] as const
    assert.strictEqual((await change({ currencyCode: "USD" })).status, 200)
    const { currencyCode, id } = await makeDraft()
    assert.strictEqual(currencyCode, "USD")
    assertValidationError(await change({ currencyCode: "EUR" }), inUse)
    assert.strictEqual((await change({ currencyCode: "USD", name: "The same currency" })).status, 200)
    await call("DELETE", `/invoices/${id}`)
    assert.strictEqual((await change({ currencyCode: "EUR" })).status, 200)
    await transition((await makeDraft()).id, "void")
    assertValidationError(await change({ currencyCode: "USD" }), inUse)
  })

  it("cannot be deleted while it has invoices, including void ones", async () => {
    const { makeDraft, call, contractId, transition } = await makeContract()
    const inUse = ["id", "inUse", "is still used by 1 invoice"] as const
    const { id } = await makeDraft()
    assertValidationError(await call("DELETE", `/contracts/${contractId}`), inUse)
    await call("DELETE", `/invoices/${id}`)
    const { id: second } = await makeDraft()
    await transition(second, "void")
    assertValidationError(await call("DELETE", `/contracts/${contractId}`), inUse)
  })

  describe("under concurrent requests", () => {
    it("accepts one of two requests that would exceed its cap together", async () => {
      for (let round = 0; round < 5; round++) {
        const { makeDraft, billed, contractId, tenant, tryAdd } = await makeContract()
        const drafts = [await makeDraft(), await makeDraft()]
        const lockStatement = "select 1 from contracts where tenant_id = $1 and id = $2 for update"
        const lock = await lockRow(at().pool, lockStatement, tenant, contractId)
        const pending = Promise.all(drafts.map(({ id }) => tryAdd(id, { amountMinor: 50_001 })))
        try {
          await lock.untilWaiting(2)
        } finally {
          await lock.release()
        }
        const responses = await pending
        assert.deepStrictEqual(responses.map(({ status }) => status).sort(), [201, 400])
        for (const response of responses) {
          if (response.status === 400) assertValidationError(response, beyondCap(contractId, "1,000.02"))
        }
        assert.strictEqual(await billed(), 50_001)
      }
    })

    it("accepts as many of sixteen requests as fit under its cap", async () => {
      const { makeDraft, billed, contractId, tryAdd } = await makeContract()
      const drafts = await Promise.all(Array.from({ length: 4 }, makeDraft))
      const responses = await Promise.all(
        Array.from({ length: 16 }, (_, n) => tryAdd(drafts[n % 4]?.id ?? "", { amountMinor: 9_000 }))
      )
      assert.lengthOf(
        responses.filter(({ status }) => status === 201),
        11
      )
      for (const response of responses) {
        if (response.status !== 201) assertValidationError(response, beyondCap(contractId, "1,080.00"))
      }
      assert.strictEqual(await billed(), 99_000)
    })

    it("never has a cap below the billed amount", async () => {
      for (let round = 0; round < 5; round++) {
        const { makeDraft, billed, call, change, contractId, tryAdd } = await makeContract()
        const { id } = await makeDraft()
        await Promise.all([
          ...Array.from({ length: 8 }, () => tryAdd(id, { amountMinor: 10_000 })),
          ...[80_000, 40_000, 20_000].map((capMinor) => change({ capMinor }))
        ])
        const { capMinor } = (await call("GET", `/contracts/${contractId}`)).body.data
        assert.isAtMost(await billed(), capMinor)
      }
    })

    it("is either invoiced or deleted", async () => {
      for (let round = 0; round < 5; round++) {
        const { call, contractId } = await makeContract()
        const [deleted, created] = await Promise.all([
          call("DELETE", `/contracts/${contractId}`),
          call("POST", "/invoices", { contractId })
        ])
        if (deleted.status === 204) assertFailure(created, 404, notFoundText)
        else {
          assertValidationError(deleted, ["id", "inUse", "is still used by 1 invoice"])
          assert.strictEqual(created.status, 201)
        }
      }
    })

    it("is either invoiced or changed to another currency", async () => {
      for (let round = 0; round < 5; round++) {
        const { call, change, contractId } = await makeContract()
        const [created, changed] = await Promise.all([
          call("POST", "/invoices", { contractId }),
          change({ currencyCode: "USD" })
        ])
        const { currencyCode } = (await call("GET", `/contracts/${contractId}`)).body.data
        assert.strictEqual(currencyCode, changed.status === 200 ? "USD" : "EUR")
        if (created.status === 201) assert.strictEqual(created.body.data.currencyCode, currencyCode)
        else assertValidationError(created, ["currencyCode", "exists", "does not exist in this tenant"])
      }
    })
  })
})

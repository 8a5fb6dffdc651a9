import { assert, describe, it } from "vitest"
import {
  assertFailure,
  assertValidationError,
  type ExpectedError,
  notFoundText
} from "../../support/assertions/failures.ts"
import { billedUnder, invoiceClient, ledgerOf } from "../../support/fixtures/invoices.ts"
import { lockRow } from "../../support/fixtures/rowLock.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { startServiceWithPool } from "../../support/servers/serviceWithPool.ts"

const most = 9007199254740991

describe("a contract", () => {
  const at = useFixture(startServiceWithPool)

  /** A contract with a cap of 1,000.00 EUR unless told otherwise. */
  const stage = async (terms: object = {}) => {
    const invoicing = invoiceClient(at().service, await at().service.newTenant())
    const { id: contractId } = await invoicing.contract({ capMinor: 100_000, ...terms })
    const billed = () => billedUnder(at().pool, contractId)
    const change = (body: object) => invoicing.call("PATCH", `/contracts/${contractId}`, body)
    return { ...invoicing, contractId, billed, change, begin: () => invoicing.draft({ contractId }) }
  }

  const beyondCap = (contract: string, amount: string, field = "billables"): ExpectedError => [
    field,
    "max",
    `would bill ${amount} EUR under contract ${contract}, beyond its capMinor, 1,000.00 EUR`
  ]

  it("can be billed up to its cap, over all its invoices, and not one further", async () => {
    const { add, begin, billed, contractId, tenant, tryAdd } = await stage()
    const [one, other] = [await begin(), await begin()]
    await add(one.id, { amountMinor: 60_000 })
    assertValidationError(await tryAdd(other.id, { amountMinor: 40_001 }), beyondCap(contractId, "1,000.01"))
    await add(other.id, { amountMinor: 40_000 })
    assert.strictEqual(await billed(), 100_000)
    const before = await ledgerOf(at().pool, tenant)
    for (const { id } of [one, other]) {
      assertValidationError(await tryAdd(id, { amountMinor: 1 }), beyondCap(contractId, "1,000.01"))
      assertValidationError(await tryAdd(id, { quantity: 0.5, amountMinor: 1 }), beyondCap(contractId, "1,000.01"))
    }
    assert.deepStrictEqual(await ledgerOf(at().pool, tenant), before)
    await add(one.id, { amountMinor: 0 }, { quantity: 0.4, amountMinor: 1 })
  })

  it("counts the lines of a request together", async () => {
    const { add, begin, billed, contractId, tryAdd } = await stage()
    const { id } = await begin()
    await add(id, { amountMinor: 150_000 }, { amountMinor: -50_000 })
    assert.strictEqual(await billed(), 100_000)
    const lines = [{ amountMinor: -10 }, { amountMinor: 5 }, { amountMinor: 6 }]
    assertValidationError(await tryAdd(id, ...lines), beyondCap(contractId, "1,000.01"))
  })

  it("has room again for what negative lines take off", async () => {
    const { add, begin, billed, contractId, tryAdd } = await stage()
    const [one, other] = [await begin(), await begin()]
    await add(one.id, { amountMinor: 100_000 })
    await add(other.id, { amountMinor: -500 })
    await add(one.id, { amountMinor: 500 })
    assert.strictEqual(await billed(), 100_000)
    assertValidationError(await tryAdd(one.id, { amountMinor: 1 }), beyondCap(contractId, "1,000.01"))
  })

  it("has room again for what is deleted, changed or void", async () => {
    const { add, begin, billed, call, move, tryAdd } = await stage()
    const { id: other } = await begin()
    const fill = async () => {
      const { id } = await begin()
      const [line] = await add(id, { amountMinor: 100_000 })
      assert.strictEqual((await tryAdd(other, { amountMinor: 1 })).status, 400)
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
    await move((await fill()).id, "void")
    assert.strictEqual(await billed(), 0)
    const finalized = await fill()
    await move(finalized.id, "finalize")
    assert.strictEqual(await billed(), 100_000)
    await move(finalized.id, "void")
    assert.strictEqual(await billed(), 0)
    const paid = await fill()
    await move(paid.id, "finalize")
    await move(paid.id, "pay")
    assert.strictEqual(await billed(), 100_000)
  })

  it("is not taken beyond its cap by what makes a credit disappear", async () => {
    const { add, begin, call, contractId, tenant, tryMove } = await stage()
    const [debit, credit] = [await begin(), await begin()]
    const [less] = await add(credit.id, { amountMinor: -1 })
    const [more] = await add(debit.id, { amountMinor: 100_001 })
    const before = await ledgerOf(at().pool, tenant)
    const beyond = (field: string) => beyondCap(contractId, "1,000.01", field)
    assertValidationError(await tryMove(credit.id, "void"), beyond("status"))
    assertValidationError(await call("DELETE", `/invoices/${credit.id}`), beyond("status"))
    assertValidationError(await call("DELETE", `/billables/${less?.id}`), beyond("id"))
    assertValidationError(await call("PATCH", `/billables/${less?.id}`, { quantity: 0 }), beyond("quantity"))
    assertValidationError(
      await call("PATCH", `/billables/${more?.id}`, { amountMinor: 100_002 }),
      beyondCap(contractId, "1,000.01", "quantity")
    )
    assert.deepStrictEqual(await ledgerOf(at().pool, tenant), before)
    assert.strictEqual((await call("DELETE", `/invoices/${debit.id}`)).status, 204)
    await tryMove(credit.id, "void")
  })

  it("without a cap is billed up to what can be told exactly", async () => {
    const { add, begin, billed, contractId, tryAdd } = await stage({ capMinor: undefined })
    const [one, other] = [await begin(), await begin()]
    await add(one.id, { amountMinor: most - 1 })
    assertValidationError(await tryAdd(other.id, { amountMinor: 2 }), [
      "billables",
      "max",
      `would bill more under contract ${contractId}, beyond what can be told exactly`
    ])
    await add(other.id, { amountMinor: 1 })
    assert.strictEqual(await billed(), most)
  })

  it("with a cap of nothing takes only what comes to nothing", async () => {
    const { add, begin, tryAdd } = await stage({ capMinor: 0 })
    const { id } = await begin()
    await add(id, { amountMinor: 0 }, { amountMinor: 5 }, { amountMinor: -5 })
    assert.strictEqual((await tryAdd(id, { amountMinor: 1 })).status, 400)
  })

  it("names its cap in the decimals of its currency", async () => {
    const { begin, contractId, tryAdd } = await stage({ currencyCode: "JPY", capMinor: 1_234_567 })
    assertValidationError(await tryAdd((await begin()).id, { amountMinor: 2_000_000 }), [
      "billables",
      "max",
      `would bill 2,000,000 JPY under contract ${contractId}, beyond its capMinor, 1,234,567 JPY`
    ])
  })

  it("keeps a cap that is not below what is billed", async () => {
    const { add, begin, change, tryAdd } = await stage()
    const { id } = await begin()
    await add(id, { amountMinor: 50_000 })
    const tooLow = ["capMinor", "min", "is less than what is used up already"] as const
    assertValidationError(await change({ capMinor: 49_999 }), tooLow)
    assertValidationError(await change({ capMinor: 0 }), tooLow)
    assert.strictEqual((await change({ capMinor: 50_000 })).status, 200)
    assert.strictEqual((await tryAdd(id, { amountMinor: 1 })).status, 400)
    assert.strictEqual((await change({ capMinor: null })).status, 200)
    await add(id, { amountMinor: 1_000_000 })
    assertValidationError(await change({ capMinor: 100_000 }), tooLow)
  })

  it("changes its currency until it is invoiced, and not afterwards", async () => {
    const { begin, call, change, move } = await stage()
    const inUse = ["currencyCode", "inUse", "is still referred to by invoices"] as const
    assert.strictEqual((await change({ currencyCode: "USD" })).status, 200)
    const { currencyCode, id } = await begin()
    assert.strictEqual(currencyCode, "USD")
    assertValidationError(await change({ currencyCode: "EUR" }), inUse)
    assert.strictEqual((await change({ currencyCode: "USD", name: "The same currency" })).status, 200)
    await call("DELETE", `/invoices/${id}`)
    assert.strictEqual((await change({ currencyCode: "EUR" })).status, 200)
    await move((await begin()).id, "void")
    assertValidationError(await change({ currencyCode: "USD" }), inUse)
  })

  it("is not deleted while it has invoices, void ones included", async () => {
    const { begin, call, contractId, move } = await stage()
    const inUse = ["id", "inUse", "is still referred to by invoices"] as const
    const { id } = await begin()
    assertValidationError(await call("DELETE", `/contracts/${contractId}`), inUse)
    await call("DELETE", `/invoices/${id}`)
    const { id: other } = await begin()
    await move(other, "void")
    assertValidationError(await call("DELETE", `/contracts/${contractId}`), inUse)
  })

  describe("when many come at the same time", () => {
    it("is billed by one of two who would together go beyond its cap", async () => {
      for (let round = 0; round < 5; round++) {
        const { begin, billed, contractId, tenant, tryAdd } = await stage()
        const drafts = [await begin(), await begin()]
        const lock = "select 1 from contracts where tenant_id = $1 and id = $2 for update"
        const held = await lockRow(at().pool, lock, tenant, contractId)
        const racing = Promise.all(drafts.map(({ id }) => tryAdd(id, { amountMinor: 50_001 })))
        try {
          await held.until(2)
        } finally {
          await held.release()
        }
        const answers = await racing
        assert.deepStrictEqual(answers.map(({ status }) => status).sort(), [201, 400])
        for (const answer of answers) {
          if (answer.status === 400) assertValidationError(answer, beyondCap(contractId, "1,000.02"))
        }
        assert.strictEqual(await billed(), 50_001)
      }
    })

    it("is billed by as many of sixteen as its cap has room for", async () => {
      const { begin, billed, contractId, tryAdd } = await stage()
      const drafts = await Promise.all(Array.from({ length: 4 }, begin))
      const answers = await Promise.all(
        Array.from({ length: 16 }, (_, n) => tryAdd(drafts[n % 4]?.id ?? "", { amountMinor: 9_000 }))
      )
      assert.lengthOf(
        answers.filter(({ status }) => status === 201),
        11
      )
      for (const answer of answers) {
        if (answer.status !== 201) assertValidationError(answer, beyondCap(contractId, "1,080.00"))
      }
      assert.strictEqual(await billed(), 99_000)
    })

    it("never has a cap below what is billed", async () => {
      for (let round = 0; round < 5; round++) {
        const { begin, billed, call, change, contractId, tryAdd } = await stage()
        const { id } = await begin()
        await Promise.all([
          ...Array.from({ length: 8 }, () => tryAdd(id, { amountMinor: 10_000 })),
          ...[80_000, 40_000, 20_000].map((capMinor) => change({ capMinor }))
        ])
        const { capMinor } = (await call("GET", `/contracts/${contractId}`)).body.data
        assert.isAtMost(await billed(), capMinor)
      }
    })

    it("is either invoiced or deleted", async () => {
      for (let round = 0; round < 10; round++) {
        const { call, contractId } = await stage()
        const [deleted, made] = await Promise.all([
          call("DELETE", `/contracts/${contractId}`),
          call("POST", "/invoices", { contractId })
        ])
        if (deleted.status === 204) assertFailure(made, 404, notFoundText)
        else {
          assertValidationError(deleted, ["id", "inUse", "is still referred to by invoices"])
          assert.strictEqual(made.status, 201)
        }
      }
    })

    it("is either invoiced or given another currency", async () => {
      for (let round = 0; round < 10; round++) {
        const { call, change, contractId } = await stage()
        const [made, changed] = await Promise.all([
          call("POST", "/invoices", { contractId }),
          change({ currencyCode: "USD" })
        ])
        const { currencyCode } = (await call("GET", `/contracts/${contractId}`)).body.data
        assert.strictEqual(currencyCode, changed.status === 200 ? "USD" : "EUR")
        if (made.status === 201) assert.strictEqual(made.body.data.currencyCode, currencyCode)
        else assertValidationError(made, ["currencyCode", "exists", "names nothing in this tenant"])
      }
    })
  })
})

import { assert, describe, it } from "vitest"
import { ClientId } from "../../../src/domain/contracting/Client.ts"
import {
  applyContractDefaults,
  CreateContract,
  contractErrors,
  contractTransitions,
  requireValidContract
} from "../../../src/domain/contracting/Contract.ts"
import { assertPasses, messagesOf } from "../../support/assertions/decisions.ts"
import { schemaErrorsOf } from "../../support/assertions/schemaErrors.ts"

const statuses = ["DRAFT", "ACTIVE", "ENDED"] as const
const clientId = ClientId.make("clnt_1")
const [earlier, later] = ["2026-01-01T00:00:00.000Z", "2026-02-01T00:00:00.000Z"]

describe("applyContractDefaults", () => {
  it("makes a DRAFT with a payment term of 30 days by default", () => {
    assert.deepStrictEqual(applyContractDefaults({ clientId, name: "Pumps", currencyCode: "EUR" }), {
      client: clientId,
      name: "Pumps",
      currencyCode: "EUR",
      status: "DRAFT",
      paymentTermDays: 30
    })
  })

  it("keeps the status and the payment term of the request", () => {
    const request = { clientId, name: "Pumps", currencyCode: "EUR", status: "ACTIVE", paymentTermDays: 0 } as const
    assert.deepInclude(applyContractDefaults(request), { status: "ACTIVE", paymentTermDays: 0 })
  })
})

describe("CreateContract", () => {
  it("accepts a DRAFT and an ACTIVE contract, and no ENDED one", () => {
    const errorsFor = (status: string) =>
      schemaErrorsOf(CreateContract, { clientId, name: "Pumps", currencyCode: "EUR", status })
    assert.isUndefined(errorsFor("DRAFT"))
    assert.isUndefined(errorsFor("ACTIVE"))
    assert.deepStrictEqual(errorsFor("ENDED"), ['status enum: must be one of DRAFT, ACTIVE, but is "ENDED"'])
  })
})

const transitionsFrom = {
  DRAFT: "DRAFT can only change to ACTIVE",
  ACTIVE: "ACTIVE can only change to ENDED",
  ENDED: "ENDED is final"
}

describe("contractErrors", () => {
  it("allows a status to stay, to become ACTIVE after DRAFT and ENDED after ACTIVE, and nothing else", () => {
    assert.deepStrictEqual(contractTransitions, { DRAFT: ["ACTIVE"], ACTIVE: ["ENDED"], ENDED: [] })
    for (const [rank, before] of statuses.entries())
      for (const [nextRank, after] of statuses.entries()) {
        const isAllowed = nextRank === rank || nextRank === rank + 1
        const errors = contractErrors({ status: after }, { status: before })
        const message = `cannot change from ${before} to ${after}: ${transitionsFrom[before]}`
        assert.deepStrictEqual(errors, isAllowed ? [] : [{ field: "status", constraint: "state", message }])
      }
  })

  it("accepts a new contract in any status", () => {
    for (const status of statuses) assert.deepStrictEqual(contractErrors({ status }), [])
  })

  it("needs a period that ends after it starts", () => {
    const status = "ACTIVE"
    assert.deepStrictEqual(contractErrors({ status, startsAt: later }), [])
    assert.deepStrictEqual(contractErrors({ status, endsAt: earlier }), [])
    assert.deepStrictEqual(contractErrors({ status, startsAt: earlier, endsAt: later }), [])
    for (const startsAt of [earlier, later])
      assert.deepStrictEqual(contractErrors({ status, startsAt, endsAt: earlier }), [
        { field: "endsAt", constraint: "min", message: `must be after startsAt, ${startsAt}, but is ${earlier}` }
      ])
  })
})

describe("requireValidContract", () => {
  it("passes the contract itself, or fails with all its errors", () => {
    const contract = { status: "ACTIVE", name: "Pumps" } as const
    assertPasses(requireValidContract(contract, { status: "DRAFT" }), contract)
    assert.deepStrictEqual(
      messagesOf(requireValidContract({ status: "DRAFT", startsAt: later, endsAt: earlier }, { status: "ENDED" })),
      [
        "status state: cannot change from ENDED to DRAFT: ENDED is final",
        `endsAt min: must be after startsAt, ${later}, but is ${earlier}`
      ]
    )
  })
})

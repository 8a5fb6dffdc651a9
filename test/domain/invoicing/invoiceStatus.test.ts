import { assert, describe, it } from "vitest"
import {
  type InvoiceStatus,
  type InvoiceTransition,
  invoiceTransitions,
  requireEditableInvoice,
  requireInvoiceTransition,
  requireVoidable,
  type VoidObstacles
} from "../../../src/domain/invoicing/InvoiceStatus.ts"
import { errorsOf, messagesOf } from "../../support/assertions/decisions.ts"

const statuses: ReadonlyArray<InvoiceStatus> = ["DRAFT", "FINALIZED", "PAID", "VOID"]

const allowed: Readonly<Record<InvoiceTransition, ReadonlyArray<InvoiceStatus>>> = {
  finalize: ["DRAFT"],
  pay: ["FINALIZED"],
  void: ["DRAFT", "FINALIZED"]
}

describe("The state machine of invoices", () => {
  for (const name of ["finalize", "pay", "void"] as const)
    for (const status of statuses) {
      const isAllowed = allowed[name].includes(status)
      it(`${isAllowed ? "allows" : "rejects"} ${name} from ${status}`, () => {
        const errors = errorsOf(requireInvoiceTransition(status, name))
        assert.deepStrictEqual(errors, isAllowed ? undefined : ["status state"])
      })
    }

  it("has exactly the transitions finalize, pay and void", () => {
    const targets = Object.entries(invoiceTransitions).map(([name, { to }]) => [name, to])
    assert.deepStrictEqual(targets, [
      ["finalize", "FINALIZED"],
      ["pay", "PAID"],
      ["void", "VOID"]
    ])
  })

  for (const status of statuses)
    it(`${status === "DRAFT" ? "allows" : "rejects"} edits in ${status}`, () => {
      const errors = errorsOf(requireEditableInvoice(status))
      assert.deepStrictEqual(errors, status === "DRAFT" ? undefined : ["status state"])
    })
})

describe("requireVoidable", () => {
  const at = "2026-11-14T09:30:00.000Z"
  const every: VoidObstacles = {
    creditNote: { number: "CN-2026-000001", at },
    mail: { recipient: "ada@client.example", at, isCertain: true },
    upload: { at, isCertain: true },
    viewedAt: at
  }
  const reasonsOf = (status: InvoiceStatus, obstacles: VoidObstacles, balanceMinor = 100) =>
    messagesOf(requireVoidable({ status, totalMinor: 100, balanceMinor }, obstacles))
  const refusal = (text: string, status = "FINALIZED") =>
    `status state: is ${status} and cannot become VOID: ${text}; create a credit note for what is left`

  it("accepts a draft, and an issued invoice of which nothing is settled and that nobody has", () => {
    assert.isUndefined(reasonsOf("DRAFT", {}, 0))
    assert.isUndefined(reasonsOf("FINALIZED", {}))
  })

  it("names every reason, and what is certain of it", () => {
    const reasons = [
      `credit note CN-2026-000001 of it was finalized at ${at}`,
      `it was sent to ada@client.example at ${at}`,
      `its PDF was stored in Google Drive at ${at}`,
      `its page was opened at ${at}`
    ]
    assert.deepStrictEqual(
      reasonsOf("FINALIZED", every),
      reasons.map((text) => refusal(text))
    )
    assert.deepStrictEqual(reasonsOf("FINALIZED", every, 60), [
      "balanceMinor state: is 60 of 100; an invoice that is settled in part cannot be voided",
      ...reasons.map((text) => refusal(text))
    ])
    assert.deepStrictEqual(reasonsOf("PAID", every, 0), [
      "status state: is PAID; only a DRAFT or FINALIZED invoice can be voided",
      ...reasons.map((text) => refusal(text, "PAID"))
    ])
    const uncertain = { at, isCertain: false }
    assert.deepStrictEqual(
      reasonsOf("FINALIZED", { mail: { recipient: "ada@client.example", ...uncertain }, upload: uncertain }),
      [
        refusal(`it may have been sent to ada@client.example at ${at}`),
        refusal(`its PDF may have been stored in Google Drive at ${at}`)
      ]
    )
  })

  it("says of a void invoice only that it is void", () => {
    assert.deepStrictEqual(reasonsOf("VOID", every, 0), [
      "status state: is VOID; only a DRAFT or FINALIZED invoice can be voided"
    ])
  })
})

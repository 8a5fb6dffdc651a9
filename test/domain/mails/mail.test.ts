import { Either } from "effect"
import fc from "fast-check"
import { assert, describe, it } from "vitest"
import {
  maxRecipients,
  requireMailable,
  requireMailIntegration,
  resolveRecipients
} from "../../../src/domain/mails/Mail.ts"
import { messagesOf } from "../../support/assertions/decisions.ts"

const addresses = { ofContacts: ["ada@client.example", "bob@client.example"], receiving: ["ada@client.example"] }

describe("resolveRecipients", () => {
  it("uses the contacts that receive invoices without given ones", () => {
    assert.deepStrictEqual(Either.getOrThrow(resolveRecipients({}, addresses, false)), {
      to: ["ada@client.example"],
      cc: []
    })
    assert.deepStrictEqual(messagesOf(resolveRecipients({}, { ofContacts: [], receiving: [] }, false)), [
      "to required: is required, because no contact of the client with an email has receivesInvoices"
    ])
  })

  it("accepts only contacts through the mail server of the operator, whatever their case", () => {
    const stranger = { to: ["ADA@client.example"], cc: ["eve@elsewhere.example"] }
    assert.isTrue(Either.isRight(resolveRecipients(stranger, addresses, false)))
    assert.deepStrictEqual(messagesOf(resolveRecipients(stranger, addresses, true)), [
      "cc exists: must be addresses of contacts of the client, because the integration has no mail server of its own, but eve@elsewhere.example is not"
    ])
    assert.isTrue(Either.isRight(resolveRecipients({ to: ["ADA@client.example"] }, addresses, true)))
  })

  it("gives every address once, in the order given, to before cc", () => {
    const address = fc.constantFrom("a@x.example", "A@x.example", "b@x.example", "c@x.example", "B@X.example")
    fc.assert(
      fc.property(fc.array(address, { minLength: 1 }), fc.array(address), (to, cc) => {
        const resolved = Either.getOrThrow(resolveRecipients({ to, cc }, addresses, false))
        const all = [...resolved.to, ...resolved.cc].map((one) => one.toLowerCase())
        assert.strictEqual(new Set(all).size, all.length)
        assert.sameMembers(all, [...new Set([...to, ...cc].map((one) => one.toLowerCase()))])
        assert.strictEqual(resolved.to[0]?.toLowerCase(), to[0]?.toLowerCase())
      })
    )
  })

  it("rejects more recipients than the maximum", () => {
    const to = Array.from({ length: maxRecipients }, (_, n) => `a${n}@x.example`)
    assert.isTrue(Either.isRight(resolveRecipients({ to }, addresses, false)))
    assert.deepStrictEqual(messagesOf(resolveRecipients({ to, cc: ["b@x.example"] }, addresses, false)), [
      "to maxItems: must have at most 20 recipients together with cc, but has 21"
    ])
  })
})

describe("requireMailable", () => {
  it("accepts issued documents only", () => {
    for (const status of ["FINALIZED", "PAID"]) assert.isTrue(Either.isRight(requireMailable("invoice", status)))
    assert.isTrue(Either.isRight(requireMailable("credit_note", "FINALIZED")))
    assert.deepStrictEqual(messagesOf(requireMailable("invoice", "VOID")), [
      "status state: is VOID; only an invoice that is FINALIZED or PAID can be sent"
    ])
    assert.deepStrictEqual(messagesOf(requireMailable("credit_note", "DRAFT")), [
      "status state: is DRAFT; only a credit note that is FINALIZED can be sent"
    ])
  })
})

describe("requireMailIntegration", () => {
  const [mail, other, hook] = [
    { id: "int_1", provider: "EMAIL" },
    { id: "int_2", provider: "EMAIL" },
    { id: "int_3", provider: "WEBHOOK" }
  ]

  it("chooses the given integration, or else the only one", () => {
    assert.strictEqual(Either.getOrThrow(requireMailIntegration([mail, hook], undefined)), mail)
    assert.strictEqual(Either.getOrThrow(requireMailIntegration([mail, other], "int_2")), other)
  })

  it("rejects a missing, an ambiguous and another integration", () => {
    assert.deepStrictEqual(messagesOf(requireMailIntegration([hook], undefined)), [
      "integrationId required: is required, and the tenant has no EMAIL integration yet"
    ])
    assert.deepStrictEqual(messagesOf(requireMailIntegration([mail, other], undefined)), [
      "integrationId required: is required, because the tenant has 2 EMAIL integrations"
    ])
    assert.deepStrictEqual(messagesOf(requireMailIntegration([mail], "int_9")), [
      "integrationId exists: does not exist in this tenant"
    ])
    assert.deepStrictEqual(messagesOf(requireMailIntegration([hook], "int_3")), [
      "integrationId state: is a WEBHOOK integration; only EMAIL integrations send mails"
    ])
  })
})

import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { epcPayloadOf, type Transfer } from "../../../src/domain/clientPage/EpcPayload.ts"

const transfer: Transfer = {
  account: { name: "Harbour Works GmbH", iban: "DE89370400440532013000", bic: "COBADEFFXXX" },
  currencyCode: "EUR",
  amountMinor: 123_456_789,
  reference: "INV-2026-000001"
}

const payloadOf = (fields: Partial<Transfer> = {}) => epcPayloadOf({ ...transfer, ...fields })

describe("The payload of the EPC QR code", () => {
  it("has the elements of version 002 in their order, each on a line", () => {
    assert.strictEqual(
      payloadOf(),
      [
        "BCD",
        "002",
        "1",
        "SCT",
        "COBADEFFXXX",
        "Harbour Works GmbH",
        "DE89370400440532013000",
        "EUR1234567.89",
        "",
        "",
        "INV-2026-000001"
      ].join("\n")
    )
  })

  it("leaves the line of the BIC empty without one", () => {
    const account = { name: "Söhne & Co", iban: "AT611904300234573201" }
    assert.strictEqual(payloadOf({ account })?.split("\n")[4], "")
  })

  it.each([
    [0, false],
    [1, true],
    [99_999_999_999, true],
    [100_000_000_000, false]
  ])("for an amount of %d minor units exists: %s", (amountMinor, exists) => {
    assert.strictEqual(payloadOf({ amountMinor }) !== undefined, exists)
  })

  it("exists only for EUR and for accounts in the SEPA", () => {
    assert.isUndefined(payloadOf({ currencyCode: "USD" }))
    assert.isUndefined(payloadOf({ account: { name: "Bank", iban: "SA0380000000608010167519" } }))
  })

  it("has eleven lines and at most 331 bytes whatever the texts are, or does not exist", () => {
    const texts = fc.string({ unit: "grapheme", minLength: 1, maxLength: 70 })
    fc.assert(
      fc.property(texts, texts, fc.integer({ min: 1, max: 99_999_999_999 }), (name, reference, amountMinor) => {
        const payload = payloadOf({ account: { ...transfer.account, name }, reference, amountMinor })
        if (payload === undefined) return assert.isAbove(Buffer.byteLength(reference), 140)
        const lines = payload.split("\n")
        assert.lengthOf(lines, 11)
        assert.isAtMost(Buffer.byteLength(payload), 331)
        assert.strictEqual(lines[10], reference.replace(/\s+/g, " ").trim())
      })
    )
  })

  it("cuts the name by characters if its bytes do not fit", () => {
    const name = "ﷺ".repeat(70)
    const payload = payloadOf({ account: { ...transfer.account, name }, reference: "x".repeat(100) }) ?? ""
    assert.isAtMost(Buffer.byteLength(payload), 331)
    assert.match(payload.split("\n")[5] ?? "", /^ﷺ+$/)
  })
})

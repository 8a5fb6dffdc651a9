import { Either, Schema } from "effect"
import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { Sender, senderNameVia } from "../../../src/domain/mails/Sender.ts"

describe("Sender", () => {
  const decode = Schema.decodeUnknownEither(Sender)

  it.each([
    ["books@harbour.example", "harbour.example", "books@harbour.example"],
    ["<books@harbour.example>", "harbour.example", "books@harbour.example"],
    ["Harbour Works <books@harbour.example>", "Harbour Works", "books@harbour.example"],
    [`"Harbour, Works"  <books@harbour.example>`, "Harbour, Works", "books@harbour.example"]
  ])("reads %s", (text, name, address) => assert.deepStrictEqual(decode(text), Either.right({ name, address })))

  it.each([
    "",
    "Harbour",
    "Harbour <books>",
    "books@harbour.example Harbour",
    "<a@harbour.example> <b@harbour.example>"
  ])("rejects %s", (text) => assert.isTrue(Either.isLeft(decode(text))))
})

describe("senderNameVia", () => {
  it.each([
    ["Northwind & Söhne", "Northwind & Söhne via Harbour"],
    ["PayPal Security via PayPal", "PayPal Security PayPal via Harbour"],
    ["PayPal (ＶＩＡ\u00a0PayPal)", "PayPal PayPal) via Harbour"],
    ["PayPal v\u200bia PayPal", "PayPal PayPal via Harbour"],
    ["Viaduct Ltd", "Viaduct Ltd via Harbour"],
    [`"Eve" <eve@client.example>\r\nBcc: all`, "Eve eve@client.example Bcc: all via Harbour"],
    ["via", "via Harbour"],
    ["é".repeat(200), `${"é".repeat(60)} via Harbour`]
  ])("shows %s with the operator at the end", (tenant, expected) =>
    assert.strictEqual(senderNameVia(tenant, "Harbour"), expected)
  )

  it("names the operator after the only via, for every tenant", () => {
    const piece = fc.oneof(
      fc.integer({ min: 0, max: 0x10ffff }).map((point) => String.fromCodePoint(point)),
      fc.constantFrom(" via ", "Via", "vi", "a", " ", "\n", "\u202e", "<")
    )
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const name = senderNameVia(pieces.join(""), "Harbour")
        assert.isTrue(name.endsWith("via Harbour"))
        assert.lengthOf(name.match(/(?<!\S)via(?!\S)/giu) ?? [], 1)
        assert.notMatch(name, /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}"<>\\]/u)
        assert.isAtMost(Array.from(name).length, 60 + " via Harbour".length)
      })
    )
  })
})

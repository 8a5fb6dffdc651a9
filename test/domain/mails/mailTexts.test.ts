import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { languages } from "../../../src/domain/locale/Language.ts"
import { allMailTextErrors, composeMail, mailTextErrors, placeholders } from "../../../src/domain/mails/MailTexts.ts"

const values = {
  invoiceNumber: "INV-1",
  total: "10.00 EUR",
  dueDate: "14 December 2026",
  client: "Northwind",
  link: ""
}

const compose = (more: Partial<Parameters<typeof composeMail>[0]> = {}) =>
  composeMail({ kind: "invoice", language: "en", requested: {}, texts: {}, values, ...more })

describe("composeMail", () => {
  it.each(languages)("fills every placeholder of the default texts in %s", (language) => {
    for (const kind of ["invoice", "credit_note"] as const) {
      const { html, subject, text } = compose({ kind, language })
      assert.include(subject, "INV-1")
      assert.include(text, "Northwind")
      assert.include(text, "10.00 EUR")
      assert.strictEqual(text.includes("14 December 2026"), kind === "invoice")
      assert.include(html, `<html lang="${language}">`)
      for (const part of [html, subject, text]) assert.notMatch(part, /\{\w+\}/)
    }
  })

  it("prefers the texts of the request to those of the integration, and these to the defaults", () => {
    const texts = { en: { subject: "Ours {invoiceNumber}", message: "Ours" }, de: { subject: "Unsere" } }
    assert.strictEqual(compose({ texts }).subject, "Ours INV-1")
    assert.deepInclude(compose({ texts, requested: { subject: "Mine" } }), { subject: "Mine", text: "Ours\n" })
    assert.strictEqual(compose({ texts, language: "fr" }).subject, "Facture INV-1")
  })

  it("drops the line of an empty link, and keeps that of a link", () => {
    const requested = { message: "Hello\n\n{link}\n\nBye" }
    assert.strictEqual(compose({ requested }).text, "Hello\n\nBye\n")
    const linked = compose({ requested, values: { ...values, link: "https://pay.example.com/i/1" } })
    assert.strictEqual(linked.text, "Hello\n\nhttps://pay.example.com/i/1\n\nBye\n")
    assert.strictEqual(compose({ requested: { message: "See {link}" } }).text, "See \n")
  })

  it("fills values that look like placeholders or patterns as they are", () => {
    const { text } = compose({ requested: { message: "{client}" }, values: { ...values, client: "$& {total}" } })
    assert.include(text, "$&")
  })

  it("fills values as they are, whatever placeholders they contain", () => {
    const template = placeholders.map((name) => `{${name}}`).join("|")
    const piece = fc.oneof(
      fc.constantFrom(...placeholders, "constructor").map((name) => `{${name}}`),
      fc.constantFrom("{", "}", "$&", "x")
    )
    const value = fc.array(piece, { minLength: 1 }).map((pieces) => pieces.join(""))
    const record = fc.record({ invoiceNumber: value, total: value, dueDate: value, client: value, link: value })
    fc.assert(
      fc.property(record, (values) => {
        const filled = placeholders.map((name) => values[name]).join("|")
        const { subject, text } = compose({ requested: { subject: template, message: template }, values })
        assert.deepStrictEqual([subject, text], [filled, `${filled}\n`])
      })
    )
  })

  it("escapes markup in HTML, and has one line as subject, for every client and message", () => {
    fc.assert(
      fc.property(fc.string(), fc.string({ minLength: 1 }), (client, message) => {
        const { html, subject } = compose({
          requested: { subject: "{client}", message: `${message}<b>{client}` },
          values: { ...values, client: `${client}<script>\r\nBcc: eve@example.com` }
        })
        assert.notInclude(html, "<script>")
        assert.notInclude(html, "<b>")
        assert.notMatch(subject, /[\r\n]/)
      })
    )
  })
})

describe("mailTextErrors", () => {
  it("names every placeholder that does not exist, with its field", () => {
    assert.deepStrictEqual(mailTextErrors({ subject: "{total} {}", message: "{link}" }), [])
    assert.deepStrictEqual(
      mailTextErrors({ subject: "{name}", message: "{Total} {x}" }).map(({ field, message }) => [
        field,
        message.split("contains ").at(-1)
      ]),
      [
        ["subject", "{name}"],
        ["message", "{Total}"],
        ["message", "{x}"]
      ]
    )
    assert.deepStrictEqual(
      allMailTextErrors({ fr: { message: "{x}" } }, "config.texts.").map(({ field }) => field),
      ["config.texts.fr.message"]
    )
  })
})

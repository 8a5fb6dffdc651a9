import jsQrModule from "jsqr"
import sharp from "sharp"
import { assert, describe, it } from "vitest"
import { type ClientPage, toClientPage } from "../../../src/domain/clientPage/ClientPage.ts"
import { renderClientPage } from "../../../src/http/server/pages/clientPage/PageHtml.ts"
import { renderQrCode } from "../../../src/http/server/pages/clientPage/QrCode.ts"
import { lineOf } from "../../support/fixtures/invoiceDocuments.ts"
import { now, pageOf, sourceOf } from "../../support/fixtures/pageSources.ts"

// The package is CommonJS, whose types name the function as the default export of a module.
const jsQr = "default" in jsQrModule ? jsQrModule.default : jsQrModule

const markup = `"'><script>alert(1)</script><b onclick='x'>&amp;`

/** A page with every part that it can have. */
const fullPage = (): ClientPage => {
  const source = sourceOf({
    paidMinor: 100,
    notes: "Thank you.",
    purchaseOrder: "PO-1",
    buyerReference: "B-1",
    serviceFrom: "2026-01-01",
    discount: { percent: 1 },
    discountReason: "Loyalty",
    taxes: [
      { taxRates: [], name: "VAT", percent: 19, baseMinor: 1, taxMinor: 1, exemptionReason: "Reverse charge" },
      { taxRates: [], name: "City tax", percent: 1, baseMinor: 1, taxMinor: 1 }
    ],
    billableCount: 1000
  })
  const lines = [lineOf({ description: "Both pumps", discount: { percent: 10 }, discountReason: "Regular" })]
  const creditNotes = [{ number: "CN-1", issuedAt: now, totalMinor: 1 }]
  const page = toClientPage({ ...source, lines, creditNotes, creditNoteCount: 2, hasLogo: true }, now)
  return { ...page, contact: { name: "Accounts", email: "a@b.example", phone: "1" } }
}

/** Adds markup to every text, except those that are code. */
const plant = <A>(value: A, key = ""): A => {
  if (typeof value === "string") {
    const isCode = ["language", "status", "payload"].includes(key)
    return (isCode ? value : value + markup) as A & string // a string again
  }
  if (typeof value !== "object" || value === null) return value
  const entries = Object.entries(value).map(([name, part]) => [name, name === "status" ? part : plant(part, name)])
  return (Array.isArray(value) ? entries.map(([, part]) => part) : Object.fromEntries(entries)) as A // the same shape
}

const tagsOf = (text: string) => text.replace(/"[^"]*"/g, '""').match(/<[^>]*>/g)

const decode = async (svg: string) => {
  const standalone = svg.replace("<svg ", `<svg xmlns="http://www.w3.org/2000/svg" width="600" height="600" `)
  const { data, info } = await sharp(Buffer.from(standalone)).ensureAlpha().raw().toBuffer({ resolveWithObject: true })
  const found = jsQr(new Uint8ClampedArray(data), info.width, info.height)
  return found === null ? undefined : Buffer.from(found.binaryData).toString()
}

describe("The HTML of the page", () => {
  it("has the same elements whatever markup the texts contain", () => {
    const page = fullPage()
    const { content } = renderClientPage(page, "token")
    const planted = renderClientPage(plant(page), "token")
    assert.deepStrictEqual(tagsOf(planted.content.markup), tagsOf(content.markup))
    assert.notInclude(planted.content.markup, "<script")
    assert.isAbove(planted.content.markup.split("&lt;script&gt;").length, 40)
  })

  it("has no script, no style attribute and no address of another site", () => {
    const { markup: text } = renderClientPage(fullPage(), "token").content
    assert.notMatch(text, /<script|<form|<iframe|\bstyle=|\son\w+=|https?:/)
  })

  it("names the landmarks, the headings and the scope of every table header", () => {
    const { markup: text } = renderClientPage(fullPage(), "token").content
    for (const landmark of ["<header>", "<main>", "<footer>", "<h1>"]) assert.include(text, landmark)
    assert.strictEqual(text.match(/<th /g)?.length, text.match(/<th scope="(col|row)"/g)?.length)
    for (const [, id = ""] of text.matchAll(/aria-labelledby="([\w-]+)"/g)) assert.include(text, `id="${id}"`)
  })

  it("shows no QR code and no account for an invoice that is not to be paid", () => {
    for (const page of [pageOf({ status: "VOID" }), pageOf({ status: "PAID", paidMinor: 12_500 })]) {
      const { markup: text } = renderClientPage(page, "token").content
      assert.notInclude(text, "<svg")
      assert.notInclude(text, "IBAN")
    }
  })
})

describe("The QR code of the page", () => {
  it("is read back by another library as the exact payload, for every language", async () => {
    for (const language of ["en", "de", "fr"] as const) {
      const { payment } = pageOf({ paidMinor: 1234 }, { language })
      const { alternative, payload } = payment?.qr ?? assert.fail("no QR code")
      assert.strictEqual(await decode(renderQrCode(payload, alternative).markup), payload)
      assert.include(payload, "EUR112.66")
    }
  })

  it("is read back with letters beyond ASCII and with the longest payload", async () => {
    for (const payload of ["BCD\n002\n1\nSCT\n\nMüller & Søn Łódź 東京 €\n", "ä".repeat(165)])
      assert.strictEqual(await decode(renderQrCode(payload, "").markup), payload)
  })

  it("has a text alternative with amount, account and reference", () => {
    const { alternative } = pageOf({}).payment?.qr ?? assert.fail("no QR code")
    assert.strictEqual(
      alternative,
      "QR code for a transfer of 125.00 EUR to IBAN DE89 3704 0044 0532 0130 00 with the reference INV-2026-000042"
    )
  })
})

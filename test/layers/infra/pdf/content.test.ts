import { assert, describe, it } from "vitest"
import type { InvoiceStatus } from "../../../../src/domain/invoicing/InvoiceStatus.ts"
import { drawInvoice } from "../../../../src/layers/infra/pdf/drawing/InvoiceLayout.ts"
import { readPdf, rowsOf, textsOf } from "../../../support/assertions/pdfText.ts"
import { defaultParties, documentOf, typicalLines } from "../../../support/fixtures/invoiceDocuments.ts"
import { fonts, renderInvoice } from "../../../support/fixtures/renderedInvoice.ts"

describe("The PDF of an invoice", () => {
  it("shows both parties side by side below the space for a logo", async () => {
    const [page = assert.fail()] = await renderInvoice(documentOf({}))
    const rows = rowsOf(page)
    const start = rows.findIndex(([first]) => first === "FROM")
    assert.deepStrictEqual(rows.slice(start, start + 9), [
      ["FROM", "BILL TO"],
      ["Harbour Works AS", "Northwind Trading Ltd"],
      ["Harbour Works", "Northwind"],
      ["1 Quay", "12 Long Acre"],
      ["5003 Bergen", "Second floor"],
      ["Norway", "WC2E 9LH London"],
      ["Reg. no. 923 456 789", "United Kingdom"],
      ["VAT NO923456789MVA", "Reg. no. 04218765"],
      ["VAT GB123456789"]
    ])
    for (const { left, text, top } of page.pieces) {
      assert.isTrue(top > 48 + 64 || left > page.width / 2, `${text} is in the space for the logo`)
    }
  })

  it("shows its number, dates, currency and contract", async () => {
    const [page = assert.fail()] = await renderInvoice(documentOf({}))
    const rows = rowsOf(page).map((row) => row.join("|"))
    assert.deepStrictEqual(rows.slice(0, 2), ["INVOICE", "INV-2026-000042"])
    const start = rows.indexOf("ISSUE DATE|DUE DATE|CURRENCY|CONTRACT")
    assert.strictEqual(rows[start + 1], "2026-03-02|2026-04-01|EUR|Maintenance of pumping stations")
    assert.include(rows, "INV-2026-000042 · Harbour Works|Page 1 of 1")
  })

  it("omits missing addresses and dates", async () => {
    const parties = { ...defaultParties, tenant: { name: "Ours" }, client: { name: "Theirs" } }
    const { dueAt: _, ...invoice } = documentOf({ invoice: { status: "DRAFT" } }).invoice
    const [page = assert.fail()] = await renderInvoice({ ...documentOf({ parties }), invoice })
    const rows = rowsOf(page).map((row) => row.join("|"))
    assert.includeMembers(rows, ["No number yet", "Ours|Theirs", "–|–|EUR|Maintenance of pumping stations"])
  })

  const marks: ReadonlyArray<readonly [InvoiceStatus, ReadonlyArray<string>]> = [
    ["DRAFT", ["DRAFT"]],
    ["FINALIZED", []],
    ["PAID", []],
    ["VOID", ["VOID"]]
  ]
  it.each(marks)("with status %s has the marks %j on every page", async (status, expected) => {
    const pages = await renderInvoice(documentOf({ lines: typicalLines(100), invoice: { status } }))
    assert.isTrue(pages.length > 3)
    for (const page of pages) assert.deepStrictEqual(page.marks, expected)
  })

  it("has the same bytes each time it is rendered, and after payment", async () => {
    const lines = typicalLines(50)
    const finalized = await drawInvoice(fonts, documentOf({ lines }))
    assert.deepStrictEqual(await drawInvoice(fonts, documentOf({ lines })), finalized)
    const stamp = "2026-05-01T10:00:00.000Z"
    const paid = documentOf({ lines, invoice: { status: "PAID", paidAt: stamp, updatedAt: stamp } })
    assert.deepStrictEqual(await drawInvoice(fonts, paid), finalized)
    assert.notDeepEqual(await drawInvoice(fonts, documentOf({ lines, invoice: { status: "VOID" } })), finalized)
  })

  it("has author, title and issue date in its metadata", async () => {
    const { info } = await readPdf(await drawInvoice(fonts, documentOf({})))
    assert.include(info, { Title: "INV-2026-000042", Author: "Harbour Works", CreationDate: "D:20260302080000Z" })
  })
})

describe("The text of an invoice PDF", () => {
  const note = "□ stands for a character that cannot be shown here"
  const renderTexts = async (name: string) => {
    const parties = { ...defaultParties, client: { name }, contract: { name } }
    const [page = assert.fail()] = await renderInvoice(documentOf({ parties }))
    return textsOf(page)
  }

  it.each(["Ελληνική Εταιρεία", "ООО «Ромашка»", "Źdźbło i Łąka", "Հայաստան", "Größe ½ € ₴ №", "საქართველო"])(
    "shows %s unchanged",
    async (name) => {
      const texts = await renderTexts(name)
      assert.lengthOf(
        texts.filter((text) => text === name),
        2
      )
      assert.notInclude(texts, note)
    }
  )

  it.each([
    ["泵站 Ltd", "□□ Ltd"],
    ["Party 🎉", "Party □"],
    ["□ and 泵", "□ and □"]
  ])("shows %s as %s and explains the squares in the footer", async (name, shown) => {
    const texts = await renderTexts(name)
    assert.includeMembers(texts, [shown, note])
  })

  it("does not explain a square that is part of the text", async () => {
    const texts = await renderTexts("□ Square")
    assert.include(texts, "□ Square")
    assert.notInclude(texts, note)
  })

  it("omits invisible characters and composes accents", async () => {
    assert.include(await renderTexts("Tab\tand\r\nreturn\u0007 Cafe\u0301\u200b"), "Tab and")
    assert.include(await renderTexts("Cafe\u0301\u200b"), "Café")
  })
})

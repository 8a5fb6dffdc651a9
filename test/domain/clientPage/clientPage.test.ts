import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { maxPageCreditNotes, maxPageLines, toClientPage } from "../../../src/domain/clientPage/ClientPage.ts"
import { pageStatuses } from "../../../src/domain/clientPage/PageStatus.ts"
import { pageTexts } from "../../../src/domain/clientPage/PageTexts.ts"
import type { Invoice } from "../../../src/domain/invoicing/Invoice.ts"
import { languages } from "../../../src/domain/locale/Language.ts"
import { documentOf, typicalLines } from "../../support/fixtures/invoiceDocuments.ts"
import { now, pageOf, sourceOf } from "../../support/fixtures/pageSources.ts"

const labelsOf = ({ totals }: ReturnType<typeof pageOf>) => totals.map(({ label, value }) => `${label} ${value}`)

describe("The page of an invoice for its client", () => {
  it("is in the language of the client, and in English without one", () => {
    for (const language of languages) assert.strictEqual(pageOf({}, { language }).language, language)
    const { parties } = documentOf({})
    assert.strictEqual(toClientPage({ ...sourceOf({}), parties }, now).language, "en")
  })

  it.each(languages)("has a text for every status in %s, with the amount and the date", (language) => {
    const { sentence, status } = pageTexts[language]
    for (const name of pageStatuses) {
      assert.notStrictEqual(status[name], "")
      const text = sentence[name]({ amount: "1.00 EUR", dueDate: "the day" })
      const isToPay = ["OPEN", "OVERDUE", "PARTIALLY_PAID"].includes(name)
      assert.strictEqual(text.includes("1.00 EUR"), isToPay)
      assert.strictEqual(text.includes("the day"), isToPay)
    }
  })

  it("leaves out the due date of an invoice without one", () => {
    const { dueAt: _, ...invoice } = sourceOf({}).invoice
    const page = toClientPage({ ...sourceOf({}), invoice }, now)
    assert.strictEqual(page.sentence, "125.00 EUR to pay.")
    assert.notInclude(
      page.terms.map(({ label }) => label),
      "Due date"
    )
  })

  it("sums what settles the invoice up to what is open", () => {
    const settled = { paidMinor: 5000, creditedMinor: 1000, writtenOffMinor: 500 }
    assert.deepStrictEqual(labelsOf(pageOf(settled)), [
      "Subtotal 125.00",
      "Total 125.00 EUR",
      "Paid -50.00",
      "Credited -10.00",
      "Adjustment -5.00",
      "To pay 60.00 EUR"
    ])
    assert.deepStrictEqual(labelsOf(pageOf({})), ["Subtotal 125.00", "Total 125.00 EUR"])
  })

  it("shows the first lines and credit notes, and says that there are more", () => {
    const lines = typicalLines(maxPageLines + 1)
    const notes = Array.from({ length: maxPageCreditNotes + 1 }, (_, n) => ({
      number: `CN-${n}`,
      issuedAt: now,
      totalMinor: 1
    }))
    const source = { ...sourceOf({ billableCount: 10_000 }), lines, creditNotes: notes, creditNoteCount: 70 }
    const page = toClientPage(source, now)
    assert.lengthOf(page.lines, maxPageLines)
    assert.include(page.hiddenLines, "10,000")
    assert.lengthOf(page.creditNotes, maxPageCreditNotes)
    assert.isTrue(page.hasMoreCreditNotes)
    assert.isUndefined(pageOf({}).hiddenLines)
    assert.isFalse(pageOf({}).hasMoreCreditNotes)
  })

  it("shows how to pay exactly what is open, and nothing about it otherwise", () => {
    const amounts = fc.record({
      status: fc.constantFrom<Invoice["status"]>("FINALIZED", "PAID", "VOID"),
      paidMinor: fc.nat(12_500),
      currencyCode: fc.constantFrom("EUR", "USD")
    })
    fc.assert(
      fc.property(amounts, (fields) => {
        const { payment } = pageOf(fields)
        const openMinor = fields.status === "VOID" ? 0 : 12_500 - fields.paidMinor
        assert.strictEqual(payment !== undefined, openMinor > 0)
        assert.strictEqual(payment?.qr !== undefined, openMinor > 0 && fields.currencyCode === "EUR")
        if (payment?.qr !== undefined) assert.include(payment.qr.payload, `\nEUR${(openMinor / 100).toFixed(2)}\n`)
      })
    )
  })

  it("prefers the account as of the issue to that of the tenant now", () => {
    const currentAccount = { name: "Now", iban: "FR1420041010050500013M02606" }
    const ibanOf = (source: ReturnType<typeof sourceOf>) =>
      toClientPage(source, now).payment?.terms.find(({ label }) => label === "IBAN")?.value
    assert.strictEqual(ibanOf({ ...sourceOf({}), currentAccount }), "DE89 3704 0044 0532 0130 00")
    const { bankAccount: _, ...tenant } = sourceOf({}).parties.tenant
    const parties = { ...sourceOf({}).parties, tenant }
    assert.strictEqual(ibanOf({ ...sourceOf({}), parties, currentAccount }), "FR14 2004 1010 0505 0001 3M02 606")
    assert.isUndefined(ibanOf({ ...sourceOf({}), parties }))
  })
})

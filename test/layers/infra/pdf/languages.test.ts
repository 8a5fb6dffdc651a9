import { assert, describe, it } from "vitest"
import { ClientId } from "../../../../src/domain/contracting/Client.ts"
import type { InvoiceDocument } from "../../../../src/domain/invoicing/document/InvoiceDocument.ts"
import { journalKinds } from "../../../../src/domain/journal/JournalEntry.ts"
import { type Language, languages } from "../../../../src/domain/locale/Language.ts"
import { toCurrencyStatements } from "../../../../src/domain/reports/Statement.ts"
import type { StatementDocument } from "../../../../src/domain/reports/StatementDocument.ts"
import { drawInvoice } from "../../../../src/layers/infra/pdf/drawing/InvoiceLayout.ts"
import { drawStatement } from "../../../../src/layers/infra/pdf/drawing/StatementLayout.ts"
import { encodeAttachment, encodeEInvoice } from "../../../../src/layers/infra/pdf/EInvoiceEncoding.ts"
import { readHybrid } from "../../../support/assertions/hybridPdf.ts"
import { assertNoOverflow } from "../../../support/assertions/pdfLayout.ts"
import { type PdfPage, readPdf, rowsOf } from "../../../support/assertions/pdfText.ts"
import { creditNoteSource, defaultBuyer, defaultSeller, eInvoiceSource } from "../../../support/fixtures/eInvoices.ts"
import { documentOfSource } from "../../../support/fixtures/hybridDocuments.ts"
import { difficultLines, documentOf, maxLengthParties } from "../../../support/fixtures/invoiceDocuments.ts"
import { fonts } from "../../../support/fixtures/renderedInvoice.ts"

const source = eInvoiceSource({
  lines: [
    { rates: ["standard"], quantity: 1234.5, amountMinor: 9_900, discount: { percent: 2.5 } },
    { rates: ["odd"], quantity: 3, amountMinor: 5_000 }
  ],
  discount: { percent: 5 },
  invoice: {
    currencyCode: "SEK",
    taxCurrencyCode: "EUR",
    taxCurrencyRate: 0.0891234,
    buyerReference: "04011000-06",
    purchaseOrder: "PO-4711",
    serviceFrom: "2026-02-01",
    serviceTo: "2026-02-28",
    deliverToCountry: "FR",
    notes: "Thank you."
  },
  parties: {
    tenant: {
      ...defaultSeller,
      billingContact: { name: "Ada Kellner", phone: "+49 40 1", email: "ada@example.org" },
      address: { ...defaultSeller.address, taxNumber: "22/815/08154" }
    },
    client: defaultBuyer
  }
})
const credited = creditNoteSource(source, { full: true }) ?? assert.fail("cannot be credited")

/** The rows of all pages. Numbers have common spaces here, which a reader of PDFs does not tell from narrow ones. */
const rowsIn = (pages: ReadonlyArray<PdfPage>) =>
  pages.flatMap(rowsOf).map((row) => row.join("|").replaceAll("\u202f", " "))

const renderRows = async (document: InvoiceDocument) =>
  rowsIn((await readPdf(await drawInvoice(fonts, document))).pages)

const invoiceRows: Readonly<Record<Language, ReadonlyArray<string>>> = {
  en: [
    "INVOICE",
    "FROM|BILL TO",
    "VAT DE123456789|VAT FR12345678901",
    "Tax no. 22/815/08154",
    "ISSUE DATE|DUE DATE|CURRENCY|CONTRACT",
    "2 Mar 2026|1 Apr 2026|SEK|Maintenance of pumping stations",
    "Service period: 1 Feb 2026 – 28 Feb 2026",
    "Your reference: 04011000-06",
    "Purchase order: PO-4711",
    "Country of delivery: FR",
    "#|Description|Quantity|Unit price|Amount",
    "1|Inspection|1,234.5|99.00|119,160.11",
    "Discount 2.5 %: -3,055.39",
    "Subtotal|119,310.11",
    "Discount|-5,965.51",
    "Net total|113,344.60",
    "VAT 19 % of 113,202.10|21,508.40",
    "VAT 5.5 % of 142.50|7.84",
    "Total SEK|134,860.84",
    "Tax in EUR: 1,917.60",
    "Thank you.",
    "Please pay to Harbour Works GmbH",
    "Reference INV-2026-000042",
    "INV-2026-000042 · Harbour Works|Page 1 of 2"
  ],
  de: [
    "RECHNUNG",
    "AUSSTELLER|RECHNUNGSEMPFÄNGER",
    "USt-IdNr. DE123456789|USt-IdNr. FR12345678901",
    "Steuernr. 22/815/08154",
    "RECHNUNGSDATUM|FÄLLIG AM|WÄHRUNG|VERTRAG",
    "02.03.2026|01.04.2026|SEK|Maintenance of pumping stations",
    "Leistungszeitraum: 01.02.2026 – 28.02.2026",
    "Ihre Referenz: 04011000-06",
    "Bestellnummer: PO-4711",
    "Lieferland: FR",
    "Pos.|Bezeichnung|Menge|Einzelpreis|Betrag",
    "1|Inspection|1.234,5|99,00|119.160,11",
    "Rabatt 2,5 %: -3.055,39",
    "Zwischensumme|119.310,11",
    "Rabatt|-5.965,51",
    "Nettobetrag|113.344,60",
    "VAT 19 % auf 113.202,10|21.508,40",
    "VAT 5.5 %: 5,5 % auf 142,50|7,84",
    "Gesamtbetrag SEK|134.860,84",
    "Steuer in EUR: 1.917,60",
    "Bitte überweisen Sie an Harbour Works GmbH",
    "Verwendungszweck INV-2026-000042",
    "INV-2026-000042 · Harbour Works|Seite 1 von 2"
  ],
  fr: [
    "FACTURE",
    "ÉMETTEUR|FACTURÉ À",
    "N° TVA DE123456789|N° TVA FR12345678901",
    "N° fiscal 22/815/08154",
    "DATE D’ÉMISSION|ÉCHÉANCE|DEVISE|CONTRAT",
    "2 mars 2026|1 avr. 2026|SEK|Maintenance of pumping stations",
    "Période de prestation : 1 févr. 2026 – 28 févr. 2026",
    "Votre référence : 04011000-06",
    "Bon de commande : PO-4711",
    "Pays de livraison : FR",
    "N°|Désignation|Quantité|P.U. HT|Montant HT",
    "1|Inspection|1 234,5|99,00|119 160,11",
    "Remise 2,5 % : -3 055,39",
    "Sous-total HT|119 310,11",
    "Remise|-5 965,51",
    "Total HT|113 344,60",
    "VAT 19 % sur 113 202,10|21 508,40",
    "VAT 5.5 % : 5,5 % sur 142,50|7,84",
    "Total TTC SEK|134 860,84",
    "Taxe en EUR : 1 917,60",
    "Veuillez régler par virement à Harbour Works GmbH",
    "Référence INV-2026-000042",
    "INV-2026-000042 · Harbour Works|Page 1 sur 2"
  ]
}

const creditRows: Readonly<Record<Language, ReadonlyArray<string>>> = {
  en: ["CREDIT NOTE", "ISSUE DATE|INVOICE DATE|CURRENCY|CONTRACT", "Credit for invoice INV-2026-000042"],
  de: ["RECHNUNGSKORREKTUR", "DATUM|RECHNUNG VOM|WÄHRUNG|VERTRAG", "Korrektur der Rechnung INV-2026-000042"],
  fr: ["AVOIR", "DATE D’ÉMISSION|FACTURE DU|DEVISE|CONTRAT", "Avoir sur la facture INV-2026-000042"]
}

const statementIn = (language: Language, parties: StatementDocument["parties"]): StatementDocument => {
  const booked = journalKinds.map((kind, index) => ({
    currencyCode: "EUR",
    bookedAt: `2026-09-${10 + index}T09:30:00.000Z`,
    kind,
    documentNumber: `N-${index + 1}`,
    invoice: null,
    payment: null,
    creditNote: null,
    amountMinor: 123_456
  }))
  return {
    statement: {
      client: ClientId.make("clnt_1"),
      from: "2026-09-01",
      to: "2026-11-30",
      currencies: toCurrencyStatements([{ currencyCode: "EUR", openingMinor: 1_000_000 }], booked, "UTC")
    },
    parties: { ...parties, client: { ...parties.client, language } }
  }
}

const statementRows: Readonly<Record<Language, ReadonlyArray<string>>> = {
  en: ["STATEMENT", "FROM|TO", "Date|Entry|Amount|Balance", "30 Nov 2026|Closing balance|19,876.48"],
  de: ["KONTOAUSZUG", "AUSSTELLER|EMPFÄNGER", "Datum|Buchung|Betrag|Saldo", "30.11.2026|Endsaldo|19.876,48"],
  fr: [
    "RELEVÉ DE COMPTE",
    "ÉMETTEUR|DESTINATAIRE",
    "Date|Opération|Montant|Solde",
    "30 nov. 2026|Solde final|19 876,48"
  ]
}

const marks: Readonly<Record<Language, Readonly<Record<"DRAFT" | "VOID", string>>>> = {
  en: { DRAFT: "DRAFT", VOID: "VOID" },
  de: { DRAFT: "ENTWURF", VOID: "STORNIERT" },
  fr: { DRAFT: "BROUILLON", VOID: "ANNULÉE" }
}

describe.each(languages)("A PDF for a client with the language %s", (language) => {
  it("has the texts, numbers and dates of an invoice in it", async () => {
    assert.includeMembers(await renderRows(documentOfSource(source, language)), [...invoiceRows[language]])
  })

  it("has those of a credit note in it", async () => {
    assert.includeMembers(await renderRows(documentOfSource(credited, language)), [...creditRows[language]])
  })

  it("has those of a statement in it", async () => {
    const { parties } = documentOf({})
    const { pages } = await readPdf(await drawStatement(fonts, statementIn(language, parties)))
    assert.includeMembers(rowsIn(pages), [...statementRows[language]])
  })

  it("names the language, and has the same XML in it as in any other", async () => {
    for (const from of [source, credited]) {
      const document = documentOfSource(from, language)
      const hybrid = await readHybrid(await drawInvoice(fonts, document, { eInvoice: encodeAttachment(document) }))
      assert.strictEqual(hybrid.language, language)
      const xml = encodeEInvoice({ eInvoice: from, syntax: "cii" })
      assert.isTrue(Buffer.from(hybrid.attachments[0]?.bytes ?? []).equals(xml))
    }
  })

  it("marks drafts and void invoices", async () => {
    const document = documentOfSource(source, language)
    for (const status of ["DRAFT", "VOID"] as const) {
      const { pages } = await readPdf(
        await drawInvoice(fonts, { ...document, invoice: { ...document.invoice, status } })
      )
      for (const page of pages) assert.deepStrictEqual(page.marks, [marks[language][status]])
    }
  })

  it("keeps all texts within the margins and without overlap", async () => {
    const parties = maxLengthParties(true)
    const localized = { ...parties, client: { ...parties.client, language } }
    const { dueAt, issuedAt } = { dueAt: "2026-09-30T08:00:00.000Z", issuedAt: "2026-12-31T08:00:00.000Z" }
    const documents = [
      documentOfSource(source, language),
      documentOfSource(credited, language),
      documentOf({ parties: localized, invoice: { dueAt, issuedAt } }),
      documentOf({ parties: localized, lines: difficultLines("EUR", 20), invoice: { status: "DRAFT" } })
    ]
    const files = [
      ...(await Promise.all(documents.map((document) => drawInvoice(fonts, document)))),
      await drawStatement(fonts, statementIn(language, localized))
    ]
    for (const file of files) for (const page of (await readPdf(file)).pages) assertNoOverflow(page)
  })
})

describe("The PDF of an invoice whose content almost fills its page", () => {
  it("has where to pay to on the next page as a whole", async () => {
    const { pages } = await readPdf(await drawInvoice(fonts, documentOfSource(source, "de")))
    assert.deepStrictEqual(
      pages.map((page) => rowsOf(page).length > 4),
      [true, false]
    )
    assert.deepStrictEqual(rowsIn(pages.slice(1)).slice(0, 3), [
      "Bitte überweisen Sie an Harbour Works GmbH",
      "IBAN DE89 3704 0044 0532 0130 00 · BIC COBADEFFXXX",
      "Verwendungszweck INV-2026-000042"
    ])
  })
})

describe("The PDF of an invoice with one end of the service period", () => {
  it.each([
    ["serviceFrom", "Leistung ab: 01.02.2026"],
    ["serviceTo", "Leistung bis: 01.02.2026"]
  ] as const)("names it: %s", async (field, row) => {
    const { invoice, ...document } = documentOfSource(eInvoiceSource({ lines: [] }), "de")
    assert.include(await renderRows({ ...document, invoice: { ...invoice, [field]: "2026-02-01" } }), row)
  })
})

import type { JournalKind } from "../../journal/JournalEntry.ts"
import type { Language } from "../../locale/Language.ts"

/** Every text of a PDF that is not data of the tenant. */
export interface DocumentTexts {
  readonly titles: Readonly<Record<"invoice" | "creditNote" | "statement", string>>
  /** The file's title where the document has no number. */
  readonly names: Readonly<Record<"invoice" | "draftInvoice" | "draftCreditNote" | "statement", string>>
  readonly numbers: Readonly<Record<"pending" | "missing", string>>
  readonly marks: Readonly<Record<"draft" | "void", string>>
  readonly party: Readonly<
    Record<"issuer" | "billedTo" | "recipient" | "registrationNumber" | "vatNumber" | "taxNumber", string>
  >
  readonly terms: Readonly<
    Record<"issueDate" | "creditDate" | "dueDate" | "invoiceDate" | "currency" | "contract", string>
  >
  readonly details: Readonly<
    Record<"servicePeriod" | "serviceFrom" | "serviceTo" | "buyerReference" | "purchaseOrder" | "deliverTo", string>
  >
  readonly creditFor: (invoice: string) => string
  readonly columns: Readonly<Record<"number" | "description" | "quantity" | "unit" | "amount", string>>
  readonly noTax: string
  readonly discount: string
  readonly totals: {
    readonly subtotal: string
    /** The same above a discount. */
    readonly undiscounted: string
    /** What is left below a discount, before taxes. */
    readonly net: string
    readonly total: string
    readonly credit: string
    readonly taxOn: (tax: string, base: string) => string
    readonly taxIn: (currencyCode: string) => string
  }
  readonly payment: Readonly<Record<"payTo" | "reference", string>>
  readonly statement: Readonly<
    Record<"day" | "entry" | "amount" | "balance" | "opening" | "closing" | "empty" | "explanation", string>
  >
  /** What an entry of a statement is. A reversal is of a payment or of a write-off. */
  readonly entries: Readonly<Record<Exclude<JournalKind, "REVERSAL"> | "reversedPayment" | "reversedWriteOff", string>>
  readonly labelled: (label: string, text: string) => string
  readonly page: (number: number, count: number) => string
  readonly missingGlyph: (glyph: string) => string
}

const en: DocumentTexts = {
  titles: { invoice: "INVOICE", creditNote: "CREDIT NOTE", statement: "STATEMENT" },
  names: {
    invoice: "Invoice",
    draftInvoice: "Draft invoice",
    draftCreditNote: "Draft credit note",
    statement: "Statement"
  },
  numbers: { pending: "No number yet", missing: "No number" },
  marks: { draft: "DRAFT", void: "VOID" },
  party: {
    issuer: "FROM",
    billedTo: "BILL TO",
    recipient: "TO",
    registrationNumber: "Reg. no.",
    vatNumber: "VAT",
    taxNumber: "Tax no."
  },
  terms: {
    issueDate: "ISSUE DATE",
    creditDate: "ISSUE DATE",
    dueDate: "DUE DATE",
    invoiceDate: "INVOICE DATE",
    currency: "CURRENCY",
    contract: "CONTRACT"
  },
  details: {
    servicePeriod: "Service period",
    serviceFrom: "Service from",
    serviceTo: "Service until",
    buyerReference: "Your reference",
    purchaseOrder: "Purchase order",
    deliverTo: "Country of delivery"
  },
  creditFor: (invoice) => `Credit for invoice ${invoice}`,
  columns: { number: "#", description: "Description", quantity: "Quantity", unit: "Unit price", amount: "Amount" },
  noTax: "No tax",
  discount: "Discount",
  totals: {
    subtotal: "Subtotal",
    undiscounted: "Subtotal",
    net: "Net total",
    total: "Total",
    credit: "Total credit",
    taxOn: (tax, base) => `${tax} of ${base}`,
    taxIn: (currencyCode) => `Tax in ${currencyCode}`
  },
  payment: { payTo: "Please pay to", reference: "Reference" },
  statement: {
    day: "Date",
    entry: "Entry",
    amount: "Amount",
    balance: "Balance",
    opening: "Opening balance",
    closing: "Closing balance",
    empty: "Nothing was booked in this period, and nothing was owed.",
    explanation: "The balance is what you owe less what you have paid in advance. A negative balance is in your favour."
  },
  entries: {
    INVOICE: "Invoice",
    VOID: "Voided invoice",
    CREDIT_NOTE: "Credit note",
    PAYMENT: "Payment",
    ALLOCATION: "Allocation",
    REFUND: "Refund",
    WRITE_OFF: "Write-off",
    reversedPayment: "Reversed payment",
    reversedWriteOff: "Reversed write-off"
  },
  labelled: (label, text) => `${label}: ${text}`,
  page: (number, count) => `Page ${number} of ${count}`,
  missingGlyph: (glyph) => `${glyph} stands for a character that cannot be shown here`
}

/** In German tax law a Gutschrift is an invoice that the buyer writes (§ 14 (2) UStG), so a credit note has another name. */
const de: DocumentTexts = {
  titles: { invoice: "RECHNUNG", creditNote: "RECHNUNGSKORREKTUR", statement: "KONTOAUSZUG" },
  names: {
    invoice: "Rechnung",
    draftInvoice: "Entwurf einer Rechnung",
    draftCreditNote: "Entwurf einer Rechnungskorrektur",
    statement: "Kontoauszug"
  },
  numbers: { pending: "Noch ohne Nummer", missing: "Ohne Nummer" },
  marks: { draft: "ENTWURF", void: "STORNIERT" },
  party: {
    issuer: "AUSSTELLER",
    billedTo: "RECHNUNGSEMPFÄNGER",
    recipient: "EMPFÄNGER",
    registrationNumber: "Registernr.",
    vatNumber: "USt-IdNr.",
    taxNumber: "Steuernr."
  },
  terms: {
    issueDate: "RECHNUNGSDATUM",
    creditDate: "DATUM",
    dueDate: "FÄLLIG AM",
    invoiceDate: "RECHNUNG VOM",
    currency: "WÄHRUNG",
    contract: "VERTRAG"
  },
  details: {
    servicePeriod: "Leistungszeitraum",
    serviceFrom: "Leistung ab",
    serviceTo: "Leistung bis",
    buyerReference: "Ihre Referenz",
    purchaseOrder: "Bestellnummer",
    deliverTo: "Lieferland"
  },
  creditFor: (invoice) => `Korrektur der Rechnung ${invoice}`,
  columns: { number: "Pos.", description: "Bezeichnung", quantity: "Menge", unit: "Einzelpreis", amount: "Betrag" },
  noTax: "Ohne Steuer",
  discount: "Rabatt",
  totals: {
    subtotal: "Zwischensumme",
    undiscounted: "Zwischensumme",
    net: "Nettobetrag",
    total: "Gesamtbetrag",
    credit: "Korrekturbetrag",
    taxOn: (tax, base) => `${tax} auf ${base}`,
    taxIn: (currencyCode) => `Steuer in ${currencyCode}`
  },
  payment: { payTo: "Bitte überweisen Sie an", reference: "Verwendungszweck" },
  statement: {
    day: "Datum",
    entry: "Buchung",
    amount: "Betrag",
    balance: "Saldo",
    opening: "Anfangssaldo",
    closing: "Endsaldo",
    empty: "In diesem Zeitraum wurde nichts gebucht, und es war nichts offen.",
    explanation:
      "Der Saldo ist, was Sie schulden, abzüglich Ihrer Vorauszahlungen. Ein negativer Saldo ist ein Guthaben zu Ihren Gunsten."
  },
  entries: {
    INVOICE: "Rechnung",
    VOID: "Stornierte Rechnung",
    CREDIT_NOTE: "Rechnungskorrektur",
    PAYMENT: "Zahlung",
    ALLOCATION: "Verrechnung",
    REFUND: "Erstattung",
    WRITE_OFF: "Ausbuchung",
    reversedPayment: "Stornierte Zahlung",
    reversedWriteOff: "Stornierte Ausbuchung"
  },
  labelled: (label, text) => `${label}: ${text}`,
  page: (number, count) => `Seite ${number} von ${count}`,
  missingGlyph: (glyph) => `${glyph} steht für ein Zeichen, das hier nicht dargestellt werden kann`
}

const fr: DocumentTexts = {
  titles: { invoice: "FACTURE", creditNote: "AVOIR", statement: "RELEVÉ DE COMPTE" },
  names: {
    invoice: "Facture",
    draftInvoice: "Brouillon de facture",
    draftCreditNote: "Brouillon d’avoir",
    statement: "Relevé de compte"
  },
  numbers: { pending: "Pas encore de numéro", missing: "Sans numéro" },
  marks: { draft: "BROUILLON", void: "ANNULÉE" },
  party: {
    issuer: "ÉMETTEUR",
    billedTo: "FACTURÉ À",
    recipient: "DESTINATAIRE",
    registrationNumber: "N° d’immatriculation",
    vatNumber: "N° TVA",
    taxNumber: "N° fiscal"
  },
  terms: {
    issueDate: "DATE D’ÉMISSION",
    creditDate: "DATE D’ÉMISSION",
    dueDate: "ÉCHÉANCE",
    invoiceDate: "FACTURE DU",
    currency: "DEVISE",
    contract: "CONTRAT"
  },
  details: {
    servicePeriod: "Période de prestation",
    serviceFrom: "Prestation à partir du",
    serviceTo: "Prestation jusqu’au",
    buyerReference: "Votre référence",
    purchaseOrder: "Bon de commande",
    deliverTo: "Pays de livraison"
  },
  creditFor: (invoice) => `Avoir sur la facture ${invoice}`,
  columns: { number: "N°", description: "Désignation", quantity: "Quantité", unit: "P.U. HT", amount: "Montant HT" },
  noTax: "Sans taxe",
  discount: "Remise",
  totals: {
    subtotal: "Total HT",
    undiscounted: "Sous-total HT",
    net: "Total HT",
    total: "Total TTC",
    credit: "Total de l’avoir TTC",
    taxOn: (tax, base) => `${tax} sur ${base}`,
    taxIn: (currencyCode) => `Taxe en ${currencyCode}`
  },
  payment: { payTo: "Veuillez régler par virement à", reference: "Référence" },
  statement: {
    day: "Date",
    entry: "Opération",
    amount: "Montant",
    balance: "Solde",
    opening: "Solde initial",
    closing: "Solde final",
    empty: "Aucune opération sur cette période, et aucun montant dû.",
    explanation: "Le solde est ce que vous devez, moins vos paiements d’avance. Un solde négatif est en votre faveur."
  },
  entries: {
    INVOICE: "Facture",
    VOID: "Facture annulée",
    CREDIT_NOTE: "Avoir",
    PAYMENT: "Paiement",
    ALLOCATION: "Imputation",
    REFUND: "Remboursement",
    WRITE_OFF: "Passage en perte",
    reversedPayment: "Paiement annulé",
    reversedWriteOff: "Passage en perte annulé"
  },
  // French has a space before the colon.
  labelled: (label, text) => `${label}\u202f: ${text}`,
  page: (number, count) => `Page ${number} sur ${count}`,
  missingGlyph: (glyph) => `${glyph} remplace un caractère qui ne peut pas être affiché ici`
}

export const documentTexts: Readonly<Record<Language, DocumentTexts>> = { en, de, fr }

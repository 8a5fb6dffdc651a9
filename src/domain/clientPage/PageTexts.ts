import type { Language } from "../locale/Language.ts"
import type { PageStatus } from "./PageStatus.ts"

/** What a sentence about the status names. Without a due date the sentence leaves it out. */
interface StatusValues {
  readonly amount: string
  readonly dueDate: string | undefined
}

/** The words of the page. Texts of the tenant, such as the names of lines and taxes, stay as they are. */
export interface PageTexts {
  readonly invoice: string
  readonly status: Readonly<Record<PageStatus, string>>
  readonly sentence: Readonly<Record<PageStatus, (values: StatusValues) => string>>
  readonly from: string
  readonly to: string
  readonly details: string
  readonly issueDate: string
  readonly dueDate: string
  readonly servicePeriod: string
  readonly contract: string
  readonly purchaseOrder: string
  readonly buyerReference: string
  readonly registrationNumber: string
  readonly vatNumber: string
  readonly taxNumber: string
  readonly lines: string
  readonly description: string
  readonly quantity: string
  readonly unitPrice: string
  readonly amount: string
  readonly noTax: string
  readonly hiddenLines: (shown: string, count: string) => string
  readonly totals: string
  readonly subtotal: string
  readonly discount: string
  readonly taxOf: (percent: string, base: string) => string
  readonly total: string
  readonly paid: string
  readonly credited: string
  readonly adjusted: string
  readonly open: string
  readonly creditNotes: string
  readonly creditNote: string
  readonly date: string
  readonly moreCreditNotes: string
  readonly payment: string
  readonly accountHolder: string
  readonly reference: string
  readonly scan: string
  readonly qrAlternative: (amount: string, iban: string, reference: string) => string
  readonly compare: (issuer: string) => string
  readonly noAccount: (issuer: string) => string
  readonly pdf: string
  readonly notes: string
  readonly questions: string
}

const en: PageTexts = {
  invoice: "Invoice",
  status: {
    OPEN: "Open",
    OVERDUE: "Overdue",
    PARTIALLY_PAID: "Partially paid",
    PAID: "Paid",
    CREDITED: "Credited",
    SETTLED: "Settled",
    VOID: "Void"
  },
  sentence: {
    OPEN: ({ amount, dueDate }) => (dueDate === undefined ? `${amount} to pay.` : `${amount} to pay by ${dueDate}.`),
    OVERDUE: ({ amount, dueDate }) => `${amount} was due on ${dueDate}.`,
    PARTIALLY_PAID: ({ amount, dueDate }) =>
      dueDate === undefined ? `${amount} left to pay.` : `${amount} left to pay by ${dueDate}.`,
    PAID: () => "This invoice is paid. Thank you.",
    CREDITED: () => "This invoice was credited in full. There is nothing to pay.",
    SETTLED: () => "There is nothing left to pay.",
    VOID: () => "This invoice was cancelled. Please do not pay it."
  },
  from: "From",
  to: "Billed to",
  details: "Details",
  issueDate: "Issue date",
  dueDate: "Due date",
  servicePeriod: "Service period",
  contract: "Contract",
  purchaseOrder: "Purchase order",
  buyerReference: "Your reference",
  registrationNumber: "Reg. no.",
  vatNumber: "VAT no.",
  taxNumber: "Tax no.",
  lines: "What is billed",
  description: "Description",
  quantity: "Quantity",
  unitPrice: "Unit price",
  amount: "Amount",
  noTax: "No tax",
  hiddenLines: (shown, count) => `These are the first ${shown} of ${count} lines. The PDF has all of them.`,
  totals: "Totals",
  subtotal: "Subtotal",
  discount: "Discount",
  taxOf: (percent, base) => `${percent} of ${base}`,
  total: "Total",
  paid: "Paid",
  credited: "Credited",
  adjusted: "Adjustment",
  open: "To pay",
  creditNotes: "Credit notes",
  creditNote: "Credit note",
  date: "Date",
  moreCreditNotes: "There are more credit notes than these.",
  payment: "How to pay",
  accountHolder: "Account holder",
  reference: "Reference",
  scan: "Scan with your banking app",
  qrAlternative: (amount, iban, reference) =>
    `QR code for a transfer of ${amount} to IBAN ${iban} with the reference ${reference}`,
  compare: (issuer) =>
    `Does your copy of the invoice name another account? Then do not pay it, and ask ${issuer} in a way you know.`,
  noAccount: (issuer) => `Please ask ${issuer} which account to pay to.`,
  pdf: "Download PDF",
  notes: "Notes",
  questions: "Questions about this invoice"
}

const de: PageTexts = {
  invoice: "Rechnung",
  status: {
    OPEN: "Offen",
    OVERDUE: "Überfällig",
    PARTIALLY_PAID: "Teilweise bezahlt",
    PAID: "Bezahlt",
    CREDITED: "Gutgeschrieben",
    SETTLED: "Ausgeglichen",
    VOID: "Storniert"
  },
  sentence: {
    OPEN: ({ amount, dueDate }) =>
      dueDate === undefined ? `${amount} zu zahlen.` : `${amount} zahlbar bis ${dueDate}.`,
    OVERDUE: ({ amount, dueDate }) => `${amount} waren am ${dueDate} fällig.`,
    PARTIALLY_PAID: ({ amount, dueDate }) =>
      dueDate === undefined ? `Noch ${amount} zu zahlen.` : `Noch ${amount} zahlbar bis ${dueDate}.`,
    PAID: () => "Diese Rechnung ist bezahlt. Vielen Dank.",
    CREDITED: () => "Diese Rechnung wurde vollständig gutgeschrieben. Es ist nichts zu zahlen.",
    SETTLED: () => "Es ist nichts mehr zu zahlen.",
    VOID: () => "Diese Rechnung wurde storniert. Bitte zahlen Sie sie nicht."
  },
  from: "Von",
  to: "Rechnung an",
  details: "Angaben",
  issueDate: "Rechnungsdatum",
  dueDate: "Fällig am",
  servicePeriod: "Leistungszeitraum",
  contract: "Vertrag",
  purchaseOrder: "Bestellnummer",
  buyerReference: "Ihre Referenz",
  registrationNumber: "Register-Nr.",
  vatNumber: "USt-IdNr.",
  taxNumber: "Steuernummer",
  lines: "Positionen",
  description: "Bezeichnung",
  quantity: "Menge",
  unitPrice: "Einzelpreis",
  amount: "Betrag",
  noTax: "Ohne Steuer",
  hiddenLines: (shown, count) => `Das sind die ersten ${shown} von ${count} Positionen. Die PDF-Datei enthält alle.`,
  totals: "Summen",
  subtotal: "Zwischensumme",
  discount: "Rabatt",
  taxOf: (percent, base) => `${percent} von ${base}`,
  total: "Gesamtbetrag",
  paid: "Bezahlt",
  credited: "Gutgeschrieben",
  adjusted: "Anpassung",
  open: "Zu zahlen",
  creditNotes: "Gutschriften",
  creditNote: "Gutschrift",
  date: "Datum",
  moreCreditNotes: "Es gibt weitere Gutschriften.",
  payment: "So zahlen Sie",
  accountHolder: "Kontoinhaber",
  reference: "Verwendungszweck",
  scan: "Mit Ihrer Banking-App scannen",
  qrAlternative: (amount, iban, reference) =>
    `QR-Code für eine Überweisung von ${amount} auf IBAN ${iban} mit dem Verwendungszweck ${reference}`,
  compare: (issuer) =>
    `Nennt Ihre Rechnung ein anderes Konto? Dann zahlen Sie bitte nicht, und fragen Sie ${issuer} auf einem Weg, den Sie kennen.`,
  noAccount: (issuer) => `Bitte fragen Sie ${issuer}, auf welches Konto Sie zahlen können.`,
  pdf: "PDF herunterladen",
  notes: "Hinweise",
  questions: "Fragen zu dieser Rechnung"
}

const fr: PageTexts = {
  invoice: "Facture",
  status: {
    OPEN: "À régler",
    OVERDUE: "En retard",
    PARTIALLY_PAID: "Partiellement réglée",
    PAID: "Réglée",
    CREDITED: "Créditée",
    SETTLED: "Soldée",
    VOID: "Annulée"
  },
  sentence: {
    OPEN: ({ amount, dueDate }) =>
      dueDate === undefined ? `${amount} à régler.` : `${amount} à régler au plus tard le ${dueDate}.`,
    OVERDUE: ({ amount, dueDate }) => `${amount} à régler depuis le ${dueDate}.`,
    PARTIALLY_PAID: ({ amount, dueDate }) =>
      dueDate === undefined ? `Reste ${amount} à régler.` : `Reste ${amount} à régler au plus tard le ${dueDate}.`,
    PAID: () => "Cette facture est réglée. Merci.",
    CREDITED: () => "Cette facture a fait l’objet d’un avoir total. Il n’y a rien à régler.",
    SETTLED: () => "Il n’y a plus rien à régler.",
    VOID: () => "Cette facture a été annulée. Merci de ne pas la régler."
  },
  from: "De",
  to: "Facturé à",
  details: "Informations",
  issueDate: "Date d’émission",
  dueDate: "Échéance",
  servicePeriod: "Période de prestation",
  contract: "Contrat",
  purchaseOrder: "Bon de commande",
  buyerReference: "Votre référence",
  registrationNumber: "N° d’immatriculation",
  vatNumber: "N° de TVA",
  taxNumber: "N° fiscal",
  lines: "Prestations",
  description: "Désignation",
  quantity: "Quantité",
  unitPrice: "Prix unitaire",
  amount: "Montant",
  noTax: "Sans taxe",
  hiddenLines: (shown, count) => `Voici les ${shown} premières lignes sur ${count}. Le PDF les contient toutes.`,
  totals: "Totaux",
  subtotal: "Sous-total",
  discount: "Remise",
  taxOf: (percent, base) => `${percent} de ${base}`,
  total: "Total",
  paid: "Réglé",
  credited: "Crédité",
  adjusted: "Ajustement",
  open: "Reste à régler",
  creditNotes: "Avoirs",
  creditNote: "Avoir",
  date: "Date",
  moreCreditNotes: "Il existe d’autres avoirs.",
  payment: "Comment régler",
  accountHolder: "Titulaire du compte",
  reference: "Référence",
  scan: "À scanner avec votre application bancaire",
  qrAlternative: (amount, iban, reference) =>
    `Code QR pour un virement de ${amount} vers l’IBAN ${iban} avec la référence ${reference}`,
  compare: (issuer) =>
    `Votre facture indique un autre compte\u202f? Ne la réglez pas, et contactez ${issuer} par un moyen que vous connaissez.`,
  noAccount: (issuer) => `Merci de demander à ${issuer} sur quel compte régler.`,
  pdf: "Télécharger le PDF",
  notes: "Remarques",
  questions: "Questions sur cette facture"
}

export const pageTexts: Readonly<Record<Language, PageTexts>> = { en, de, fr }

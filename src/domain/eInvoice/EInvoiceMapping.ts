import { defaultTimeZone, localDateOf } from "../locale/TimeZone.ts"
import type { Contact, CreditTransfer, EInvoice, Party, PostalAddress, TaxCurrency } from "./EInvoice.ts"
import { amountsOf, convertTax } from "./EInvoiceAmounts.ts"
import type { EInvoiceSource, SourceAddress, SourceParties, SourceParty } from "./EInvoiceSource.ts"
import { presentText } from "./Texts.ts"

const hasValue = (fields: object) => Object.values(fields).some((value) => value !== undefined)

/** The fields, or undefined if none of them has a value. */
const presentFields = <A extends object>(fields: A): A | undefined => (hasValue(fields) ? fields : undefined)

const toPostalAddress = ({ address1, address2, city, countryCode, region, zip }: SourceAddress): PostalAddress => ({
  line1: presentText(address1),
  line2: presentText(address2),
  city: presentText(city),
  postCode: presentText(zip),
  region: presentText(region),
  countryCode: presentText(countryCode)
})

const toElectronicAddress = (address: SourceAddress["electronicAddress"]) => {
  const value = presentText(address?.value)
  return value === undefined ? undefined : { scheme: address?.scheme.trim() ?? "", value }
}

/** The address has the name of the legal entity. Another name of the party is its trading name. */
const toParty = ({ address, name }: SourceParty, showsVatNumber: boolean): Party => {
  const legalName = presentText(address?.name) ?? presentText(name)
  const tradingName = presentText(name)
  if (address === undefined) return { name: legalName }
  return {
    name: legalName,
    tradingName: tradingName === legalName ? undefined : tradingName,
    address: toPostalAddress(address),
    registrationNumber: presentText(address.registrationNumber),
    vatNumber: showsVatNumber ? presentText(address.vatNumber) : undefined,
    electronicAddress: toElectronicAddress(address.electronicAddress)
  }
}

const toContact = ({ email, name, phone }: Contact = {}) =>
  presentFields({ name: presentText(name), phone: presentText(phone), email: presentText(email) })

const toSeller = ({ tenant }: SourceParties, showsVatNumber: boolean): Party => ({
  ...toParty(tenant, showsVatNumber),
  taxNumber: presentText(tenant.address?.taxNumber),
  contact: toContact(tenant.billingContact)
})

/** UNTDID 4461: a SEPA credit transfer in euro, any credit transfer in other currencies. */
const transferCode = (currencyCode: string) => (currencyCode === "EUR" ? "58" : "30")

/** How to pay. Nobody pays a credit note into the account of its issuer. */
const toPayment = ({ creditNote, invoice, parties }: EInvoiceSource): CreditTransfer | undefined => {
  const { bankAccount } = parties.tenant
  return bankAccount === undefined || creditNote !== undefined
    ? undefined
    : {
        typeCode: transferCode(invoice.currencyCode),
        reference: invoice.invoiceNumber,
        iban: bankAccount.iban,
        accountName: bankAccount.name,
        bic: bankAccount.bic
      }
}

const toTaxCurrency = ({ creditNote, invoice }: EInvoiceSource): TaxCurrency | undefined => {
  const { taxCurrencyCode: code } = invoice
  const { taxMinor } = creditNote ?? invoice
  return code === undefined ? undefined : { code, taxMinor: convertTax(taxMinor, invoice) }
}

/** What an invoice and a credit note have each in its own way. */
const identityOf = ({ creditNote, invoice, parties }: EInvoiceSource) => {
  const dayOf = (timestamp: string | undefined) =>
    timestamp === undefined ? undefined : localDateOf(timestamp, parties.tenant.timeZone ?? defaultTimeZone)
  if (creditNote === undefined)
    return {
      typeCode: "380",
      isDraft: invoice.status === "DRAFT",
      number: presentText(invoice.invoiceNumber),
      issueDate: dayOf(invoice.issuedAt),
      dueDate: dayOf(invoice.dueAt),
      note: presentText(invoice.notes)
    } as const
  return {
    typeCode: "381",
    isDraft: creditNote.status === "DRAFT",
    number: presentText(creditNote.creditNoteNumber),
    issueDate: dayOf(creditNote.issuedAt),
    // The standard wants a due date or terms (BR-CO-25), and a credit note is never due.
    paymentTerms: `Credit for invoice ${invoice.invoiceNumber ?? ""}`.trim(),
    note: presentText(creditNote.reason),
    precedingInvoice: { number: presentText(invoice.invoiceNumber), issueDate: dayOf(invoice.issuedAt) }
  } as const
}

/** The e-invoice of an invoice, or of a credit note on it. `findReadinessErrors` says whether it meets the standard. */
export const toEInvoice = (source: EInvoiceSource): EInvoice => {
  const { invoice, parties } = source
  const amounts = amountsOf(source)
  // An invoice that is not subject to VAT must not show VAT numbers (BR-O-02).
  const showsVatNumbers = !(
    amounts.lines.length > 0 && amounts.lines.every(({ vat }) => vat !== undefined && vat.category === "O")
  )
  return {
    ...identityOf(source),
    currencyCode: invoice.currencyCode,
    taxCurrency: toTaxCurrency(source),
    buyerReference: presentText(invoice.buyerReference),
    purchaseOrder: presentText(invoice.purchaseOrder),
    seller: toSeller(parties, showsVatNumbers),
    buyer: toParty(parties.client, showsVatNumbers),
    period: presentFields({ from: invoice.serviceFrom, to: invoice.serviceTo }),
    deliverToCountry: presentText(invoice.deliverToCountry),
    payment: toPayment(source),
    ...amounts
  }
}

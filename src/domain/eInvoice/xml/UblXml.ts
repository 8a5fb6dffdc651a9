import { formatDecimal, toDecimal } from "../../money/Decimal.ts"
import {
  type AllowanceCharge,
  type Contact,
  type CreditTransfer,
  type EInvoice,
  type Line,
  type Party,
  type PostalAddress,
  specificationId,
  type Vat,
  type VatBreakdown
} from "../EInvoice.ts"
import { formatAmount } from "../Texts.ts"
import { element, formatXml, requiredElement, type XmlElement } from "./Xml.ts"

/** UBL 2.1 of OASIS: a document Invoice or CreditNote. The order of elements is that of its schemas. */

const commonNamespaces = {
  "xmlns:cac": "urn:oasis:names:specification:ubl:schema:xsd:CommonAggregateComponents-2",
  "xmlns:cbc": "urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2"
}

/** The names that differ between the two documents. */
const documents = {
  "380": { root: "Invoice", type: "InvoiceTypeCode", line: "InvoiceLine", quantity: "InvoicedQuantity" },
  "381": { root: "CreditNote", type: "CreditNoteTypeCode", line: "CreditNoteLine", quantity: "CreditedQuantity" }
} as const

type Names = (typeof documents)[keyof typeof documents]

const cac = (name: string, content: ReadonlyArray<XmlElement | undefined>) => element(`cac:${name}`, content)

const cbc = (name: string, text: string | undefined, attributes?: Readonly<Record<string, string>>) =>
  element(`cbc:${name}`, text, attributes)

const amount = (name: string, minor: number, currencyID: string) => cbc(name, formatAmount(minor), { currencyID })

const taxScheme = (id = "VAT") => cac("TaxScheme", [cbc("ID", id)])

const taxCategory = (
  name: string,
  { category, percent }: Vat,
  { exemptionCode, exemptionReason }: Pick<VatBreakdown, "exemptionCode" | "exemptionReason"> = {}
) =>
  cac(name, [
    cbc("ID", category),
    // BR-O-05: what is not subject to VAT has no rate.
    category === "O" ? undefined : cbc("Percent", formatDecimal(toDecimal(percent))),
    cbc("TaxExemptionReasonCode", exemptionCode),
    cbc("TaxExemptionReason", exemptionReason),
    taxScheme()
  ])

const allowanceCharge = (item: AllowanceCharge, currency: string, vat?: Vat) =>
  cac("AllowanceCharge", [
    cbc("ChargeIndicator", String(item.isCharge)),
    cbc("AllowanceChargeReasonCode", item.reasonCode),
    cbc("AllowanceChargeReason", item.reason),
    amount("Amount", item.amountMinor, currency),
    vat === undefined ? undefined : taxCategory("TaxCategory", vat)
  ])

const postalAddress = ({ city, countryCode, line1, line2, postCode, region }: PostalAddress) =>
  requiredElement("cac:PostalAddress", [
    cbc("StreetName", line1),
    cbc("AdditionalStreetName", line2),
    cbc("CityName", city),
    cbc("PostalZone", postCode),
    cbc("CountrySubentity", region),
    cac("Country", [cbc("IdentificationCode", countryCode)])
  ])

const partyTaxScheme = (id: string | undefined, scheme?: string) =>
  id === undefined ? undefined : cac("PartyTaxScheme", [cbc("CompanyID", id), taxScheme(scheme)])

const contactElement = ({ email, name, phone }: Contact) =>
  cac("Contact", [cbc("Name", name), cbc("Telephone", phone), cbc("ElectronicMail", email)])

const partyElement = (name: string, party: Party) => {
  const { address, contact, electronicAddress, registrationNumber, taxNumber, tradingName, vatNumber } = party
  return cac(name, [
    cac("Party", [
      cbc("EndpointID", electronicAddress?.value, { schemeID: electronicAddress?.scheme ?? "" }),
      cac("PartyName", [cbc("Name", tradingName)]),
      address === undefined ? undefined : postalAddress(address),
      partyTaxScheme(vatNumber),
      // Any scheme but VAT marks the tax number (BT-32).
      partyTaxScheme(taxNumber, "FC"),
      cac("PartyLegalEntity", [cbc("RegistrationName", party.name), cbc("CompanyID", registrationNumber)]),
      contact === undefined ? undefined : contactElement(contact)
    ])
  ])
}

const paymentMeans = ({ accountName, bic, iban, reference, typeCode }: CreditTransfer) =>
  cac("PaymentMeans", [
    cbc("PaymentMeansCode", typeCode),
    cbc("PaymentID", reference),
    cac("PayeeFinancialAccount", [
      cbc("ID", iban),
      cbc("Name", accountName),
      cac("FinancialInstitutionBranch", [cbc("ID", bic)])
    ])
  ])

const taxSubtotal = (breakdown: VatBreakdown, currency: string) =>
  cac("TaxSubtotal", [
    amount("TaxableAmount", breakdown.baseMinor, currency),
    amount("TaxAmount", breakdown.taxMinor, currency),
    taxCategory("TaxCategory", breakdown, breakdown)
  ])

const taxTotals = ({ currencyCode, taxCurrency, totals, vatBreakdown }: EInvoice) => [
  cac("TaxTotal", [
    amount("TaxAmount", totals.taxMinor, currencyCode),
    ...vatBreakdown.map((breakdown) => taxSubtotal(breakdown, currencyCode))
  ]),
  taxCurrency?.taxMinor === undefined
    ? undefined
    : cac("TaxTotal", [amount("TaxAmount", taxCurrency.taxMinor, taxCurrency.code)])
]

const optionalAmount = (name: string, minor: number, currency: string) =>
  minor === 0 ? undefined : amount(name, minor, currency)

const monetaryTotal = ({ currencyCode, totals }: EInvoice) =>
  cac("LegalMonetaryTotal", [
    amount("LineExtensionAmount", totals.linesMinor, currencyCode),
    amount("TaxExclusiveAmount", totals.netMinor, currencyCode),
    amount("TaxInclusiveAmount", totals.grossMinor, currencyCode),
    optionalAmount("AllowanceTotalAmount", totals.allowancesMinor, currencyCode),
    optionalAmount("ChargeTotalAmount", totals.chargesMinor, currencyCode),
    amount("PrepaidAmount", totals.paidMinor, currencyCode),
    amount("PayableAmount", totals.dueMinor, currencyCode)
  ])

const lineElement = (line: Line, currency: string, names: Names) =>
  cac(names.line, [
    cbc("ID", line.id),
    cbc(names.quantity, line.quantity, { unitCode: line.unitCode }),
    amount("LineExtensionAmount", line.netMinor, currency),
    ...line.allowances.map((item) => allowanceCharge(item, currency)),
    cac("Item", [
      cbc("Description", line.description),
      cbc("Name", line.name),
      line.vat === undefined ? undefined : taxCategory("ClassifiedTaxCategory", line.vat)
    ]),
    cac("Price", [amount("PriceAmount", line.priceMinor, currency)])
  ])

const header = (invoice: EInvoice, names: Names) => [
  cbc("CustomizationID", specificationId),
  cbc("ID", invoice.number),
  cbc("IssueDate", invoice.issueDate),
  cbc("DueDate", invoice.dueDate),
  cbc(names.type, invoice.typeCode),
  cbc("Note", invoice.note),
  cbc("DocumentCurrencyCode", invoice.currencyCode),
  cbc("TaxCurrencyCode", invoice.taxCurrency?.code),
  cbc("BuyerReference", invoice.buyerReference),
  cac("InvoicePeriod", [cbc("StartDate", invoice.period?.from), cbc("EndDate", invoice.period?.to)]),
  cac("OrderReference", [cbc("ID", invoice.purchaseOrder)]),
  cac("BillingReference", [
    cac("InvoiceDocumentReference", [
      cbc("ID", invoice.precedingInvoice?.number),
      cbc("IssueDate", invoice.precedingInvoice?.issueDate)
    ])
  ])
]

const deliveryElement = (country: string | undefined) =>
  cac("Delivery", [cac("DeliveryLocation", [cac("Address", [cac("Country", [cbc("IdentificationCode", country)])])])])

/** The e-invoice in the syntax UBL. */
export const formatUbl = (invoice: EInvoice) => {
  const { allowances, currencyCode, lines, payment, typeCode } = invoice
  const names = documents[typeCode]
  return formatXml(
    requiredElement(
      names.root,
      [
        ...header(invoice, names),
        partyElement("AccountingSupplierParty", invoice.seller),
        partyElement("AccountingCustomerParty", invoice.buyer),
        deliveryElement(invoice.deliverToCountry),
        payment === undefined ? undefined : paymentMeans(payment),
        cac("PaymentTerms", [cbc("Note", invoice.paymentTerms)]),
        ...allowances.map((item) => allowanceCharge(item, currencyCode, item.vat)),
        ...taxTotals(invoice),
        monetaryTotal(invoice),
        ...lines.map((line) => lineElement(line, currencyCode, names))
      ],
      { xmlns: `urn:oasis:names:specification:ubl:schema:xsd:${names.root}-2`, ...commonNamespaces }
    )
  )
}

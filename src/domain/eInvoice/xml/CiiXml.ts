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

/** Cross Industry Invoice of UN/CEFACT, D22B. The order of elements is that of its schema. */

const namespaces = {
  "xmlns:rsm": "urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100",
  "xmlns:qdt": "urn:un:unece:uncefact:data:standard:QualifiedDataType:100",
  "xmlns:ram": "urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100",
  "xmlns:udt": "urn:un:unece:uncefact:data:standard:UnqualifiedDataType:100"
}

type Content = string | undefined | ReadonlyArray<XmlElement | undefined>

const ram = (name: string, content: Content, attributes?: Readonly<Record<string, string>>) =>
  element(`ram:${name}`, content, attributes)

const date = (name: string, day: string | undefined, type = "udt") =>
  ram(name, [element(`${type}:DateTimeString`, day?.replaceAll("-", ""), { format: "102" })])

const vatFields = ({ category, percent }: Vat) => ({
  type: ram("TypeCode", "VAT"),
  category: ram("CategoryCode", category),
  // BR-O-05: what is not subject to VAT has no rate.
  rate: category === "O" ? undefined : ram("RateApplicablePercent", formatDecimal(toDecimal(percent)))
})

const vatElement = (name: string, vat: Vat | undefined) => {
  if (vat === undefined) return undefined
  const { category, rate, type } = vatFields(vat)
  return ram(name, [type, category, rate])
}

const allowanceCharge = ({ amountMinor, isCharge, reason, reasonCode }: AllowanceCharge, vat?: Vat) =>
  ram("SpecifiedTradeAllowanceCharge", [
    ram("ChargeIndicator", [element("udt:Indicator", String(isCharge))]),
    ram("ActualAmount", formatAmount(amountMinor)),
    ram("ReasonCode", reasonCode),
    ram("Reason", reason),
    vatElement("CategoryTradeTax", vat)
  ])

const lineItem = ({ allowances, description, id, name, netMinor, priceMinor, quantity, unitCode, vat }: Line) =>
  ram("IncludedSupplyChainTradeLineItem", [
    ram("AssociatedDocumentLineDocument", [ram("LineID", id)]),
    ram("SpecifiedTradeProduct", [ram("Name", name), ram("Description", description)]),
    ram("SpecifiedLineTradeAgreement", [
      ram("NetPriceProductTradePrice", [ram("ChargeAmount", formatAmount(priceMinor))])
    ]),
    ram("SpecifiedLineTradeDelivery", [ram("BilledQuantity", quantity, { unitCode })]),
    ram("SpecifiedLineTradeSettlement", [
      vatElement("ApplicableTradeTax", vat),
      ...allowances.map((item) => allowanceCharge(item)),
      ram("SpecifiedTradeSettlementLineMonetarySummation", [ram("LineTotalAmount", formatAmount(netMinor))])
    ])
  ])

const postalAddress = ({ city, countryCode, line1, line2, postCode, region }: PostalAddress) =>
  requiredElement("ram:PostalTradeAddress", [
    ram("PostcodeCode", postCode),
    ram("LineOne", line1),
    ram("LineTwo", line2),
    ram("CityName", city),
    ram("CountryID", countryCode),
    ram("CountrySubDivisionName", region)
  ])

const contactElement = ({ email, name, phone }: Contact) =>
  ram("DefinedTradeContact", [
    ram("PersonName", name),
    ram("TelephoneUniversalCommunication", [ram("CompleteNumber", phone)]),
    ram("EmailURIUniversalCommunication", [ram("URIID", email)])
  ])

const taxRegistration = (id: string | undefined, schemeID: string) =>
  ram("SpecifiedTaxRegistration", [ram("ID", id, { schemeID })])

const partyElement = (name: string, party: Party) => {
  const { address, contact, electronicAddress, registrationNumber, taxNumber, tradingName, vatNumber } = party
  return ram(name, [
    ram("Name", party.name),
    ram("SpecifiedLegalOrganization", [ram("ID", registrationNumber), ram("TradingBusinessName", tradingName)]),
    contact === undefined ? undefined : contactElement(contact),
    address === undefined ? undefined : postalAddress(address),
    ram("URIUniversalCommunication", [
      ram("URIID", electronicAddress?.value, { schemeID: electronicAddress?.scheme ?? "" })
    ]),
    taxRegistration(vatNumber, "VA"),
    taxRegistration(taxNumber, "FC")
  ])
}

const paymentMeans = ({ accountName, bic, iban, typeCode }: CreditTransfer) =>
  ram("SpecifiedTradeSettlementPaymentMeans", [
    ram("TypeCode", typeCode),
    ram("PayeePartyCreditorFinancialAccount", [ram("IBANID", iban), ram("AccountName", accountName)]),
    ram("PayeeSpecifiedCreditorFinancialInstitution", [ram("BICID", bic)])
  ])

const tradeTax = (breakdown: VatBreakdown) => {
  const { category, rate, type } = vatFields(breakdown)
  return ram("ApplicableTradeTax", [
    ram("CalculatedAmount", formatAmount(breakdown.taxMinor)),
    type,
    ram("ExemptionReason", breakdown.exemptionReason),
    ram("BasisAmount", formatAmount(breakdown.baseMinor)),
    category,
    ram("ExemptionReasonCode", breakdown.exemptionCode),
    rate
  ])
}

const optionalAmount = (name: string, minor: number) => (minor === 0 ? undefined : ram(name, formatAmount(minor)))

const summation = ({ currencyCode, taxCurrency, totals }: EInvoice) =>
  ram("SpecifiedTradeSettlementHeaderMonetarySummation", [
    ram("LineTotalAmount", formatAmount(totals.linesMinor)),
    optionalAmount("ChargeTotalAmount", totals.chargesMinor),
    optionalAmount("AllowanceTotalAmount", totals.allowancesMinor),
    ram("TaxBasisTotalAmount", formatAmount(totals.netMinor)),
    ram("TaxTotalAmount", formatAmount(totals.taxMinor), { currencyID: currencyCode }),
    taxCurrency?.taxMinor === undefined
      ? undefined
      : ram("TaxTotalAmount", formatAmount(taxCurrency.taxMinor), { currencyID: taxCurrency.code }),
    ram("GrandTotalAmount", formatAmount(totals.grossMinor)),
    ram("TotalPrepaidAmount", formatAmount(totals.paidMinor)),
    ram("DuePayableAmount", formatAmount(totals.dueMinor))
  ])

const settlement = (invoice: EInvoice) => {
  const { allowances, dueDate, payment, paymentTerms, period, precedingInvoice, taxCurrency, vatBreakdown } = invoice
  return ram("ApplicableHeaderTradeSettlement", [
    ram("PaymentReference", payment?.reference),
    ram("TaxCurrencyCode", taxCurrency?.code),
    ram("InvoiceCurrencyCode", invoice.currencyCode),
    payment === undefined ? undefined : paymentMeans(payment),
    ...vatBreakdown.map(tradeTax),
    ram("BillingSpecifiedPeriod", [date("StartDateTime", period?.from), date("EndDateTime", period?.to)]),
    ...allowances.map((item) => allowanceCharge(item, item.vat)),
    ram("SpecifiedTradePaymentTerms", [ram("Description", paymentTerms), date("DueDateDateTime", dueDate)]),
    summation(invoice),
    ram("InvoiceReferencedDocument", [
      ram("IssuerAssignedID", precedingInvoice?.number),
      date("FormattedIssueDateTime", precedingInvoice?.issueDate, "qdt")
    ])
  ])
}

/** The e-invoice in the syntax CII. */
export const formatCii = (invoice: EInvoice) => {
  const { buyer, buyerReference, deliverToCountry, issueDate, lines, note, number, purchaseOrder, seller, typeCode } =
    invoice
  const context = [ram("GuidelineSpecifiedDocumentContextParameter", [ram("ID", specificationId)])]
  const document = [
    ram("ID", number),
    ram("TypeCode", typeCode),
    date("IssueDateTime", issueDate),
    ram("IncludedNote", [ram("Content", note)])
  ]
  const agreement = [
    ram("BuyerReference", buyerReference),
    partyElement("SellerTradeParty", seller),
    partyElement("BuyerTradeParty", buyer),
    ram("BuyerOrderReferencedDocument", [ram("IssuerAssignedID", purchaseOrder)])
  ]
  const delivery = [ram("ShipToTradeParty", [ram("PostalTradeAddress", [ram("CountryID", deliverToCountry)])])]
  const transaction = [
    ...lines.map(lineItem),
    requiredElement("ram:ApplicableHeaderTradeAgreement", agreement),
    requiredElement("ram:ApplicableHeaderTradeDelivery", delivery),
    settlement(invoice)
  ]
  return formatXml(
    requiredElement(
      "rsm:CrossIndustryInvoice",
      [
        element("rsm:ExchangedDocumentContext", context),
        element("rsm:ExchangedDocument", document),
        element("rsm:SupplyChainTradeTransaction", transaction)
      ],
      namespaces
    )
  )
}

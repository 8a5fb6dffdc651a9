import type { VatCategory } from "../../money/InvoiceArithmetic.ts"
import type { EInvoice, VatBreakdown } from "../EInvoice.ts"
import { exemptionCodes } from "./CodeLists.ts"
import { type ReadinessError, requireRule } from "./ReadinessError.ts"

/** What the rules of each VAT category begin with. */
const rulePrefixes: Readonly<Record<VatCategory, string>> = {
  S: "BR-S",
  Z: "BR-Z",
  E: "BR-E",
  AE: "BR-AE",
  K: "BR-IC",
  G: "BR-G",
  O: "BR-O"
}

type Parties = Pick<EInvoice, "seller" | "buyer">

/** A number that a category requires of a party. */
interface RequiredNumber {
  readonly field: string
  readonly name: string
  readonly has: (parties: Parties) => boolean
}

const sellerVat: RequiredNumber = {
  field: "tenant.address.vatNumber",
  name: "the VAT number of the tenant",
  has: ({ seller }) => seller.vatNumber !== undefined
}
const sellerTax: RequiredNumber = {
  field: "tenant.address.vatNumber",
  name: "the VAT number or the tax number of the tenant",
  has: ({ seller }) => seller.vatNumber !== undefined || seller.taxNumber !== undefined
}
const buyerVat: RequiredNumber = {
  field: "client.address.vatNumber",
  name: "the VAT number of the client",
  has: ({ buyer }) => buyer.vatNumber !== undefined
}
const buyerLegal: RequiredNumber = {
  field: "client.address.vatNumber",
  name: "the VAT number or the registration number of the client",
  has: ({ buyer }) => buyer.vatNumber !== undefined || buyer.registrationNumber !== undefined
}

const requiredNumbers: Readonly<Record<VatCategory, ReadonlyArray<RequiredNumber>>> = {
  S: [sellerTax],
  Z: [sellerTax],
  E: [sellerTax],
  AE: [sellerTax, buyerLegal],
  K: [sellerVat, buyerVat],
  G: [sellerVat],
  O: []
}

/** Categories are used by lines, allowances and charges. The standard has a rule for each use: -02, -03 and -04. */
const categoryUses = ({ allowances, lines }: EInvoice) => {
  const uses = [
    ...lines.flatMap(({ vat }) => (vat === undefined ? [] : [{ category: vat.category, use: "02" }])),
    ...allowances.map(({ isCharge, vat }) => ({ category: vat.category, use: isCharge ? "04" : "03" }))
  ]
  return [...new Map(uses.map((use) => [`${rulePrefixes[use.category]}-${use.use}`, use.category])).entries()]
}

const numberErrors = (invoice: EInvoice): ReadonlyArray<ReadinessError> =>
  categoryUses(invoice).flatMap(([rule, category]) =>
    requiredNumbers[category].flatMap(({ field, has, name }) =>
      requireRule(has(invoice), rule, field, `Fill in ${name}, which the VAT category ${category} requires.`)
    )
  )

const exemptCategories: ReadonlyArray<VatCategory> = ["E", "AE", "K", "G", "O"]

/** A reason is of the tax rates, which a row of the tax table joins. */
const exemptionErrors = (
  { category, exemptionCode, exemptionReason }: VatBreakdown,
  index: number
): ReadonlyArray<ReadinessError> => [
  ...requireRule(
    !exemptCategories.includes(category) || exemptionReason !== undefined || exemptionCode !== undefined,
    `${rulePrefixes[category]}-10`,
    `taxes[${index}].exemptionReason`,
    `Fill in the exemption reason of the tax rate with category ${category}.`
  ),
  ...requireRule(
    exemptionCode === undefined || exemptionCodes.has(exemptionCode.toUpperCase()),
    "BR-CL-22",
    `taxes[${index}].exemptionCode`,
    `Use an exemption code of the list VATEX such as VATEX-EU-AE, or none; ${exemptionCode} is not in it.`
  )
]

/** The validators round the rate, so that a rate below half a percent counts as none. */
const rateErrors = ({ category, percent, taxMinor }: VatBreakdown, index: number) =>
  requireRule(
    category !== "S" || percent >= 0.5 || Math.abs(taxMinor) < 50,
    "BR-CO-17",
    `taxes[${index}].percent`,
    `Use a VAT rate of at least 0.5 percent; validators take ${percent} percent for 0.`
  )

const supplyErrors = ({ deliverToCountry, period, vatBreakdown }: EInvoice): ReadonlyArray<ReadinessError> =>
  vatBreakdown.some(({ category }) => category === "K")
    ? [
        ...requireRule(
          period !== undefined,
          "BR-IC-11",
          "serviceFrom",
          "Fill in when the supply within the EU took place: serviceFrom, serviceTo or both."
        ),
        ...requireRule(
          deliverToCountry !== undefined,
          "BR-IC-12",
          "deliverToCountry",
          "Fill in the country that the supply within the EU was delivered to."
        )
      ]
    : []

/** What is outside the scope of VAT mixes with nothing, and shows no VAT numbers. */
const scopeErrors = (invoice: EInvoice): ReadonlyArray<ReadinessError> => {
  const { allowances, buyer, seller, vatBreakdown } = invoice
  const isOutside = ({ category }: { readonly category: VatCategory }) => category === "O"
  if (!vatBreakdown.some(isOutside) || vatBreakdown.every(isOutside)) return []
  const mixed = (isCharge: boolean) => allowances.some((item) => item.isCharge === isCharge && !isOutside(item.vat))
  const showsVatNumber = seller.vatNumber !== undefined || buyer.vatNumber !== undefined
  const shown = categoryUses(invoice).flatMap(([rule, category]) => (category === "O" && showsVatNumber ? [rule] : []))
  return [
    "BR-O-11",
    "BR-O-12",
    ...(mixed(false) ? ["BR-O-13"] : []),
    ...(mixed(true) ? ["BR-O-14"] : []),
    ...shown
  ].map((rule) => ({
    rule,
    field: "billables",
    message:
      "Bill lines outside the scope of VAT (category O) on an invoice of their own; they mix with no other category and no VAT number."
  }))
}

/** The rules on VAT categories, and on what they require of the parties and of the delivery. */
export const findVatErrors = (invoice: EInvoice): ReadonlyArray<ReadinessError> => [
  ...numberErrors(invoice),
  ...invoice.vatBreakdown.flatMap(exemptionErrors),
  ...invoice.vatBreakdown.flatMap(rateErrors),
  ...supplyErrors(invoice),
  ...scopeErrors(invoice)
]

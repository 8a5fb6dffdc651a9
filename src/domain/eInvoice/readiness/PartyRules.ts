import { electronicAddressSchemes } from "../../contracting/ElectronicAddress.ts"
import type { EInvoice, Party } from "../EInvoice.ts"
import { countryCodes, vatPrefixes } from "./CodeLists.ts"
import { type ReadinessError, requireRule } from "./ReadinessError.ts"

/** The names of the rules that seller and buyer have each. */
const sides = {
  seller: { field: "tenant", name: "BR-06", address: "BR-08", country: "BR-09", scheme: "BR-62" },
  buyer: { field: "client", name: "BR-07", address: "BR-10", country: "BR-11", scheme: "BR-63" }
} as const

type Side = keyof typeof sides

export const countryErrors = (code: string, field: string) =>
  requireRule(
    countryCodes.has(code),
    "BR-CL-14",
    field,
    `Use a country code of ISO 3166-1 such as DE; ${code} is none.`
  )

const addressErrors = (side: Side, { address }: Party): ReadonlyArray<ReadinessError> => {
  const rules = sides[side]
  const field = `${rules.field}.address.countryCode`
  const { countryCode } = address ?? {}
  return [
    ...requireRule(
      address !== undefined,
      rules.address,
      `${rules.field}.address`,
      `Add a postal address to the ${rules.field}.`
    ),
    ...(countryCode === undefined
      ? [{ rule: rules.country, field, message: `Fill in the country code of the ${rules.field}'s address.` }]
      : countryErrors(countryCode, field))
  ]
}

const electronicAddressErrors = (side: Side, { electronicAddress }: Party): ReadonlyArray<ReadinessError> => {
  if (electronicAddress === undefined) return []
  const rules = sides[side]
  const field = `${rules.field}.address.electronicAddress.scheme`
  const { scheme } = electronicAddress
  return scheme === ""
    ? [{ rule: rules.scheme, field, message: "Fill in the scheme of the electronic address, such as EM for an email." }]
    : requireRule(
        electronicAddressSchemes.has(scheme),
        "BR-CL-25",
        field,
        `Use a scheme of the code list EAS such as 0088 or EM; ${scheme} is none.`
      )
}

const vatNumberErrors = (side: Side, { vatNumber }: Party) =>
  vatNumber === undefined
    ? []
    : requireRule(
        vatPrefixes.has(vatNumber.slice(0, 2)),
        "BR-CO-09",
        `${sides[side].field}.address.vatNumber`,
        `Start the VAT number with the code of its country, such as DE123456789; it is ${vatNumber}.`
      )

const partyErrors = (side: Side, party: Party): ReadonlyArray<ReadinessError> => [
  ...requireRule(
    party.name !== undefined,
    sides[side].name,
    `${sides[side].field}.address.name`,
    `Fill in the name of the ${sides[side].field}.`
  ),
  ...addressErrors(side, party),
  ...vatNumberErrors(side, party),
  ...electronicAddressErrors(side, party)
]

/** The buyer identifies the seller by a number. */
const identifierErrors = ({ registrationNumber, vatNumber }: Party) =>
  requireRule(
    registrationNumber !== undefined || vatNumber !== undefined,
    "BR-CO-26",
    "tenant.address.registrationNumber",
    "Fill in the registration number of the tenant. A VAT number does as well, unless the invoice is outside the scope of VAT."
  )

/** The rules on the names, addresses and identifiers of both parties. */
export const findPartyErrors = ({ buyer, seller }: Pick<EInvoice, "seller" | "buyer">) => [
  ...partyErrors("seller", seller),
  ...identifierErrors(seller),
  ...partyErrors("buyer", buyer)
]

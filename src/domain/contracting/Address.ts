import { Schema } from "effect"
import { id } from "../Ids.ts"
import { CountryCode } from "../locale/CountryCode.ts"
import { body, field, Order, optional, patch, text, timestamps } from "../Schemas.ts"
import { ClientId } from "./Client.ts"
import { ElectronicAddress } from "./ElectronicAddress.ts"

export const AddressId = id("adr", "address")

const writable = {
  name: field(text(1, 200), "Name at the top of the address, usually of the legal entity.", "Northwind GmbH"),
  address1: field(text(1, 200), "Street and number.", "Am Hafen 12"),
  address2: optional(field(text(0, 200), "Second line: building, floor or department.", "Gate 3")),
  region: optional(field(text(0, 100), "State, province or region.", "Hamburg")),
  country: field(text(1, 100), "Country, as it is printed on invoices.", "Germany"),
  countryCode: optional(field(CountryCode, "The same country as an ISO 3166-1 alpha-2 code.", "DE")),
  city: field(text(1, 100), "City.", "Hamburg"),
  zip: field(text(1, 20), "Postal code.", "20457"),
  registrationNumber: optional(field(text(0, 100), "Number in the company register.", "HRB 12345")),
  vatNumber: optional(field(text(0, 100), "VAT identification number.", "DE123456789")),
  taxNumber: optional(
    field(text(0, 100), "Tax number other than the VAT number, of the local tax office.", "27/123/45678")
  ),
  electronicAddress: optional(ElectronicAddress),
  order: optional(Order)
}

/** A postal address of a client. Without `client` it belongs to the tenant. */
export const Address = Schema.Struct({
  id: AddressId,
  ...writable,
  client: optional(field(ClientId, "The client that has the address. Left out for an address of the tenant itself.")),
  ...timestamps
}).annotations({
  identifier: "Address",
  description: "A postal address of a client, or of the tenant itself, with what invoices print beside it."
})

const newOwner = field(ClientId, "The client that has the address. Without it, the address belongs to the tenant.")

export const CreateAddress = body({ ...writable, clientId: optional(newOwner) }).annotations({
  identifier: "CreateAddress",
  description: "A new address."
})
export const PatchAddress = patch(writable).annotations({
  identifier: "PatchAddress",
  description: "The fields of an address to change."
})

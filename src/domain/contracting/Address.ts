import { Schema } from "effect"
import { id } from "../Ids.ts"
import { body, Order, optional, patch, text, timestamps } from "../Schemas.ts"
import { ClientId } from "./Client.ts"

export const AddressId = id("adr", "address")

const writable = {
  name: text(1, 200),
  address1: text(1, 200),
  address2: optional(text(0, 200)),
  region: optional(text(0, 100)),
  country: text(1, 100),
  city: text(1, 100),
  zip: text(1, 20),
  registrationNumber: optional(text(0, 100)),
  vatNumber: optional(text(0, 100)),
  order: optional(Order)
}

/** A postal address of a client. Without `client` it belongs to the tenant. */
export const Address = Schema.Struct({
  id: AddressId,
  ...writable,
  client: optional(ClientId),
  ...timestamps
}).annotations({ identifier: "Address" })

export const CreateAddress = body({ ...writable, clientId: optional(ClientId) }).annotations({
  identifier: "CreateAddress"
})
export const PatchAddress = patch(writable).annotations({ identifier: "PatchAddress" })

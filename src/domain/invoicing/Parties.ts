import { Schema } from "effect"
import { Address } from "../contracting/Address.ts"
import { optional } from "../Schemas.ts"

const Party = Schema.Struct({ name: Schema.String, address: optional(Address) })

/** Issuer, recipient and contract of an invoice. Finalizing the invoice freezes them. */
export const Parties = Schema.Struct({
  tenant: Party,
  client: Party,
  contract: Schema.Struct({ name: Schema.String })
})
export type Parties = typeof Parties.Type

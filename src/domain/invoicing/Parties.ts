import { Schema } from "effect"
import { Address } from "../contracting/Address.ts"
import { optional } from "../Schemas.ts"

const Party = Schema.Struct({ name: Schema.String, address: optional(Address) })

/** Who invoices whom, and under which contract. Frozen when the invoice is finalized. */
export const Parties = Schema.Struct({
  tenant: Party,
  client: Party,
  contract: Schema.Struct({ name: Schema.String })
})
export type Parties = typeof Parties.Type

import { Schema } from "effect"
import { MediaItem } from "../branding/Media.ts"
import { id } from "../Ids.ts"
import { defaultTimeZone, TimeZone } from "../locale/TimeZone.ts"
import { BankAccount } from "../money/BankAccount.ts"
import { body, field, optional, optionalWithDefault, patch, text, timestamps } from "../Schemas.ts"
import { defaultTaxRateIds, defaultTaxRates } from "../taxes/TaxRate.ts"
import { BillingContact } from "./BillingContact.ts"

export const TenantId = id("tnt", "tenant")
export type TenantId = typeof TenantId.Type

/** Fields that API users can set. The other schemas derive from them. */
const writable = {
  name: field(text(1, 200), "Name of the business, as invoices show it.", "Harbour Works"),
  description: optional(field(text(0, 1024), "Free text about the tenant.", "Repairs in the old harbour")),
  timeZone: TimeZone,
  bankAccount: optional(BankAccount),
  billingContact: optional(BillingContact)
}

const aboutTaxRates = "Tax rates of new lines, unless the line or the contract names its own."

export const Tenant = Schema.Struct({
  id: TenantId,
  ...writable,
  ...defaultTaxRates(aboutTaxRates),
  media: field(Schema.Array(MediaItem), "Images attached to the tenant, by `order`, then by slot."),
  ...timestamps
}).annotations({ identifier: "Tenant", description: "A business that uses the service, separate from all others." })
export type Tenant = typeof Tenant.Type

export const CreateTenant = body({
  ...writable,
  timeZone: optionalWithDefault(TimeZone, defaultTimeZone)
}).annotations({ identifier: "CreateTenant", description: "A new tenant." })
export const PatchTenant = patch({ ...writable, ...defaultTaxRateIds(aboutTaxRates) }).annotations({
  identifier: "PatchTenant",
  description: "The fields of a tenant to change."
})

import { makeApi } from "./api/Api.ts"
import { assets } from "./handlers/branding/Assets.ts"
import { addresses } from "./handlers/contracting/Addresses.ts"
import { clients } from "./handlers/contracting/Clients.ts"
import { contacts } from "./handlers/contracting/Contacts.ts"
import { contracts } from "./handlers/contracting/Contracts.ts"
import { emails } from "./handlers/contracting/Emails.ts"
import { projects } from "./handlers/contracting/Projects.ts"
import { deliveries } from "./handlers/integrations/Deliveries.ts"
import { events } from "./handlers/integrations/Events.ts"
import { integrations } from "./handlers/integrations/Integrations.ts"
import { billables } from "./handlers/invoicing/Billables.ts"
import { creditNoteSeries } from "./handlers/invoicing/CreditNoteSeries.ts"
import { creditNotes } from "./handlers/invoicing/CreditNotes.ts"
import { invoiceLinks } from "./handlers/invoicing/InvoiceLinks.ts"
import { invoiceSeries } from "./handlers/invoicing/InvoiceSeries.ts"
import { invoices } from "./handlers/invoicing/Invoices.ts"
import { payments } from "./handlers/invoicing/Payments.ts"
import { reports } from "./handlers/invoicing/Reports.ts"
import { taxRates } from "./handlers/invoicing/TaxRates.ts"
import { limits } from "./handlers/tenancy/Limits.ts"
import { members } from "./handlers/tenancy/Members.ts"
import { tenants } from "./handlers/tenancy/Tenants.ts"
import { inbound } from "./handlers/tracker/Inbound.ts"
import { issues } from "./handlers/tracker/Issues.ts"
import { webhooks } from "./handlers/tracker/Webhooks.ts"

/** Every resource of the API with its handlers. HttpApi, routes and OpenAPI document derive from this list. */
export const handlerGroups = [
  tenants,
  members,
  limits,
  clients,
  addresses,
  contacts,
  emails,
  contracts,
  projects,
  invoices,
  invoiceLinks,
  billables,
  payments,
  creditNotes,
  reports,
  taxRates,
  invoiceSeries,
  creditNoteSeries,
  assets,
  integrations,
  events,
  deliveries,
  issues,
  inbound,
  webhooks
]

export const Api = makeApi(handlerGroups.map(({ group }) => group))

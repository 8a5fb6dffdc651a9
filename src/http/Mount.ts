import { assemble } from "./api/Assemble.ts"
import { addresses } from "./handlers/Addresses.ts"
import { assets } from "./handlers/Assets.ts"
import { billables } from "./handlers/Billables.ts"
import { clients } from "./handlers/Clients.ts"
import { contacts } from "./handlers/Contacts.ts"
import { contracts } from "./handlers/Contracts.ts"
import { deliveries } from "./handlers/Deliveries.ts"
import { emails } from "./handlers/Emails.ts"
import { events } from "./handlers/Events.ts"
import { inbound } from "./handlers/Inbound.ts"
import { integrations } from "./handlers/Integrations.ts"
import { invoiceSeries } from "./handlers/InvoiceSeries.ts"
import { invoices } from "./handlers/Invoices.ts"
import { issues } from "./handlers/Issues.ts"
import { members } from "./handlers/Members.ts"
import { projects } from "./handlers/Projects.ts"
import { tenants } from "./handlers/Tenants.ts"
import { webhooks } from "./handlers/Webhooks.ts"

/** Everything that is served, a line a resource: the contract, the routes and the document all follow from this list. */
export const mounted = [
  tenants,
  members,
  clients,
  addresses,
  contacts,
  emails,
  contracts,
  projects,
  invoices,
  billables,
  invoiceSeries,
  assets,
  integrations,
  events,
  deliveries,
  webhooks,
  issues,
  inbound
]

export const Api = assemble(mounted.map(({ group }) => group))

import { Layer } from "effect"
import { Assets } from "../layers/branding/Assets.ts"
import { Attachments } from "../layers/branding/Attachments.ts"
import { ClientPages } from "../layers/clientPage/ClientPages.ts"
import { InvoiceLinks } from "../layers/clientPage/InvoiceLinks.ts"
import { Addresses } from "../layers/contracting/Addresses.ts"
import { Clients } from "../layers/contracting/Clients.ts"
import { Contacts } from "../layers/contracting/Contacts.ts"
import { Contracts } from "../layers/contracting/Contracts.ts"
import { Emails } from "../layers/contracting/Emails.ts"
import { Projects } from "../layers/contracting/Projects.ts"
import { CreditNoteDrafts } from "../layers/creditNotes/CreditNoteDrafts.ts"
import { CreditNoteEInvoices } from "../layers/creditNotes/CreditNoteEInvoices.ts"
import { CreditNoteExplanations } from "../layers/creditNotes/CreditNoteExplanations.ts"
import { CreditNoteLifecycle } from "../layers/creditNotes/CreditNoteLifecycle.ts"
import { CreditNotePdfs } from "../layers/creditNotes/CreditNotePdfs.ts"
import { CreditNotes } from "../layers/creditNotes/CreditNotes.ts"
import { Deliveries } from "../layers/delivery/Deliveries.ts"
import { Events } from "../layers/events/Events.ts"
import { TenantExport } from "../layers/export/TenantExport.ts"
import { SignedUrls } from "../layers/infra/blobs/SignedUrls.ts"
import { InboundStream } from "../layers/infra/nats/InboundStream.ts"
import { Authorizations } from "../layers/integrations/authorization/Authorizations.ts"
import { TokenRevocation } from "../layers/integrations/authorization/TokenRevocation.ts"
import { Integrations } from "../layers/integrations/Integrations.ts"
import { Subscriptions } from "../layers/integrations/Subscriptions.ts"
import { Billables } from "../layers/invoicing/Billables.ts"
import { ContractBillings } from "../layers/invoicing/ContractBillings.ts"
import { InvoiceEInvoices } from "../layers/invoicing/document/InvoiceEInvoices.ts"
import { InvoicePdfs } from "../layers/invoicing/document/InvoicePdfs.ts"
import { InvoiceDrafts } from "../layers/invoicing/InvoiceDrafts.ts"
import { InvoiceExplanations } from "../layers/invoicing/InvoiceExplanations.ts"
import { InvoiceLifecycle } from "../layers/invoicing/InvoiceLifecycle.ts"
import { Invoices } from "../layers/invoicing/Invoices.ts"
import { CreditNoteNumbers, InvoiceNumbers } from "../layers/invoicing/NumberSeries.ts"
import { InvoiceMails } from "../layers/mails/InvoiceMails.ts"
import { ClientBalances } from "../layers/payments/ClientBalances.ts"
import { InvoiceSettlement } from "../layers/payments/InvoiceSettlement.ts"
import { Payments } from "../layers/payments/Payments.ts"
import { Quotas } from "../layers/quotas/Quotas.ts"
import { AgingReports } from "../layers/reports/AgingReports.ts"
import { ReportPeriods } from "../layers/reports/ReportPeriods.ts"
import { RevenueReports } from "../layers/reports/RevenueReports.ts"
import { StatementPdfs } from "../layers/reports/StatementPdfs.ts"
import { Statements } from "../layers/reports/Statements.ts"
import { TaxRates } from "../layers/taxes/TaxRates.ts"
import { Members } from "../layers/tenancy/Members.ts"
import { Tenants } from "../layers/tenancy/Tenants.ts"
import { InboundStore } from "../layers/trackers/InboundStore.ts"
import { InboundWebhooks } from "../layers/trackers/InboundWebhooks.ts"
import { IssueBilling } from "../layers/trackers/IssueBilling.ts"
import { JiraWebhookRemoval } from "../layers/trackers/jira/JiraWebhookRemoval.ts"
import { TrackedIssues } from "../layers/trackers/TrackedIssues.ts"
import { assets } from "./branding/Assets.ts"
import { invoiceLinks } from "./clientPage/InvoiceLinks.ts"
import { addresses } from "./contracting/Addresses.ts"
import { clients } from "./contracting/Clients.ts"
import { contacts } from "./contracting/Contacts.ts"
import { contracts } from "./contracting/Contracts.ts"
import { emails } from "./contracting/Emails.ts"
import { projects } from "./contracting/Projects.ts"
import { creditNoteSeries } from "./creditNotes/CreditNoteSeries.ts"
import { creditNotes } from "./creditNotes/CreditNotes.ts"
import { deliveries } from "./delivery/Deliveries.ts"
import { events } from "./events/Events.ts"
import { integrations } from "./integrations/Integrations.ts"
import { billables } from "./invoicing/Billables.ts"
import { invoiceSeries } from "./invoicing/InvoiceSeries.ts"
import { invoices } from "./invoicing/Invoices.ts"
import { payments } from "./payments/Payments.ts"
import { reports } from "./reports/Reports.ts"
import { taxRates } from "./taxes/TaxRates.ts"
import { limits } from "./tenancy/Limits.ts"
import { members } from "./tenancy/Members.ts"
import { tenants } from "./tenancy/Tenants.ts"
import { inbound } from "./trackers/Inbound.ts"
import { issues } from "./trackers/Issues.ts"
import { webhooks } from "./trackers/Webhooks.ts"

/** The handlers of every group of the API. */
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

/** The services of all handlers and pages, each of them once. */
export const handlerServices = Layer.mergeAll(
  Assets.Default,
  Attachments.Default,
  ClientPages.Default,
  InvoiceLinks.Default,
  Addresses.Default,
  Clients.Default,
  Contacts.Default,
  Contracts.Default,
  Emails.Default,
  Projects.Default,
  CreditNoteDrafts.Default,
  CreditNoteEInvoices.Default,
  CreditNoteExplanations.Default,
  CreditNoteLifecycle.Default,
  CreditNotePdfs.Default,
  CreditNotes.Default,
  Deliveries.Default,
  Events.Default,
  TenantExport.Default,
  SignedUrls.Default,
  InboundStream.Default,
  Integrations.Default,
  Subscriptions.Default,
  Authorizations.Default,
  TokenRevocation.Default,
  Billables.Default,
  ContractBillings.Default,
  InvoiceDrafts.Default,
  InvoiceExplanations.Default,
  InvoiceLifecycle.Default,
  Invoices.Default,
  CreditNoteNumbers.Default,
  InvoiceNumbers.Default,
  InvoiceEInvoices.Default,
  InvoicePdfs.Default,
  InvoiceMails.Default,
  ClientBalances.Default,
  InvoiceSettlement.Default,
  Payments.Default,
  Quotas.Default,
  AgingReports.Default,
  ReportPeriods.Default,
  RevenueReports.Default,
  StatementPdfs.Default,
  Statements.Default,
  TaxRates.Default,
  Members.Default,
  Tenants.Default,
  InboundStore.Default,
  InboundWebhooks.Default,
  IssueBilling.Default,
  TrackedIssues.Default,
  JiraWebhookRemoval.Default
)

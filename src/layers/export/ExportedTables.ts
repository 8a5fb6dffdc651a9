/** The files with the rows of a tenant, in the order of the archive, each with the tables that it contains. */
export const exportedTables = {
  tenant: ["tenants", "attachments"],
  members: ["members"],
  "tax-rates": ["tax_rates"],
  "invoice-series": ["invoice_series", "invoice_counters"],
  "credit-note-series": ["credit_note_series", "credit_note_counters"],
  clients: ["clients"],
  addresses: ["addresses"],
  contacts: ["contacts"],
  emails: ["emails"],
  contracts: ["contracts"],
  projects: ["projects"],
  invoices: ["invoices"],
  "invoice-mails": ["invoice_mails"],
  "invoice-links": ["invoice_links"],
  "invoice-uploads": ["invoice_uploads"],
  billables: ["billables"],
  "credit-notes": ["credit_notes"],
  "credit-note-lines": ["credit_note_lines"],
  payments: ["payments"],
  "journal-entries": ["journal_entries"],
  assets: ["assets"],
  integrations: ["all_integrations", "subscriptions"],
  issues: ["tracked_issues"],
  "inbound-webhooks": ["inbound_webhooks"],
  deliveries: ["deliveries", "delivery_attempts"],
  // Last, so that it also tells what changed while the other files were written.
  events: ["events"]
} as const satisfies Readonly<Record<string, ReadonlyArray<string>>>

export type ExportedKind = keyof typeof exportedTables

const secret = "holds credentials, which leave the service for nobody"
const queue = "is work in progress of the service, and empty when it is done"
const inFiles = "is in the archive as files: PDFs and images"

/** Tables of tenants that the archive leaves out, each with the reason. A test finds a table that is in neither list. */
export const unexportedTables: Readonly<Record<string, string>> = {
  grants: secret,
  pending_grants: secret,
  oauth_states: secret,
  integration_secrets: secret,
  webhook_endpoints: secret,
  tracker_webhooks: "lists registrations at Jira that belong to credentials",
  idempotency_keys: "repeats responses for a day, some of them with credentials",
  outbox: queue,
  event_feed: "repeats the order of events",
  delivery_queues: queue,
  redeliveries: queue,
  invoice_file_queue: queue,
  delivery_files: "remembers unfinished uploads to Google Drive",
  blobs: inFiles,
  blob_chunks: inFiles,
  uploads: inFiles,
  invoice_files: inFiles,
  credit_note_files: inFiles,
  invoice_images: "is drawn on the PDFs of the invoices",
  blob_usage: "repeats the sum of the sizes of files",
  invoice_credits: "repeats sums of credit notes"
}

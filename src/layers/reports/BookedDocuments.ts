import type * as SqlClient from "@effect/sql/SqlClient"
import type { ReportPeriod } from "../../domain/reports/ReportPeriod.ts"

/**
 * The documents that reports know: what an entry of the journal books, and what it refers to. A new kind of document
 * takes a query in the union of `selectBookedDocuments`, and a join in `selectClientEntries`.
 */

/** Selects the documents that were booked in a period. The amounts of what takes revenue back are negative. */
export const selectBookedDocuments = (sql: SqlClient.SqlClient, tenant: string, { end, start }: ReportPeriod) => sql`
  select kind, client_id, currency_code, booked_at, sign, taxes, sign * (subtotal_minor - discount_minor) as net,
    sign * tax_minor as tax, sign * total_minor as gross
  from (
    select kind, entry.client_id, entry.currency_code, booked_at, case kind when 'INVOICE' then 1 else -1 end as sign,
      taxes, subtotal_minor, discount_minor, tax_minor, total_minor
    from journal_entries entry
    join invoices document on document.tenant_id = entry.tenant_id and document.id = entry.invoice_id
    where entry.tenant_id = ${tenant} and booked_at >= ${start} and booked_at < ${end} and kind in ('INVOICE', 'VOID')
    union all
    select kind, entry.client_id, entry.currency_code, booked_at, -1, taxes, subtotal_minor, discount_minor, tax_minor,
      total_minor
    from journal_entries entry
    join credit_notes document on document.tenant_id = entry.tenant_id and document.id = entry.credit_note_id
    where entry.tenant_id = ${tenant} and booked_at >= ${start} and booked_at < ${end} and kind = 'CREDIT_NOTE'
  ) documents`

/**
 * Selects the entries of a client in a period with their documents, in order. An entry with two documents settles one
 * with the other: it does not change what the client owes less what it has paid in advance.
 */
export const selectClientEntries = (
  sql: SqlClient.SqlClient,
  tenant: string,
  client: string,
  { end, start }: ReportPeriod
) => sql`
  select entry.currency_code as "currencyCode", booked_at as "bookedAt", kind,
    coalesce(invoice_number, credit_note_number, payment.reference) as "documentNumber", entry.invoice_id as invoice,
    payment_id as payment, credit_note_id as "creditNote", invoice_minor - credit_minor as "amountMinor"
  from journal_entries entry
  left join invoices invoice on invoice.tenant_id = entry.tenant_id and invoice.id = entry.invoice_id
  left join payments payment on payment.tenant_id = entry.tenant_id and payment.id = entry.payment_id
  left join credit_notes note on note.tenant_id = entry.tenant_id and note.id = entry.credit_note_id
  where entry.tenant_id = ${tenant} and entry.client_id = ${client} and booked_at >= ${start} and booked_at < ${end}
    and num_nonnulls(entry.invoice_id, payment_id, credit_note_id) = 1
  order by booked_at, entry.id`

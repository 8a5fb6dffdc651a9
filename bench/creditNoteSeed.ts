import type pg from "pg"
import type { SeedTenant } from "./tenants.ts"
import { benchCaller } from "./tokenIssuer.ts"

/** The net amount of 0.5 of the 1.5 of a seeded line. */
const partMinor = 5_000

/**
 * A draft of each invoice, as the service creates it: the first line in full, which has a reference to release, and a part
 * of the second one by quantity.
 */
export const insertCreditNotes = (
  client: pg.Client,
  { creditNotes, id, invoices }: Pick<SeedTenant, "creditNotes" | "id" | "invoices">
) =>
  client.query(
    `insert into credit_notes (tenant_id, id, invoice_id, client_id, currency_code, status, reason, "full", lines,
       subtotal_minor, discount_minor, taxes, tax_minor, total_minor, allocations, unallocated_minor, refunded_minor,
       created_by, created_at, updated_at, sequence)
     select $1, given.id, invoice, client_id, currency_code, 'DRAFT', 'Not delivered in full', false, credited.lines,
       credited.minor, 0, '[]', 0, credited.minor, '[]', 0, 0, $5, '2026-01-04Z', '2026-01-04Z', 1
     from unnest($2::text[], $3::text[]) as given (id, invoice)
     join invoices on invoices.tenant_id = $1 and invoices.id = invoice
     cross join lateral (
       select json_build_array(
           json_build_object('billable', ids[1], 'amountMinor', first_minor),
           json_build_object('billable', ids[2], 'quantity', 0.5, 'amountMinor', $4::bigint)
         ) as lines, first_minor + $4::bigint as minor
       from (
         select array_agg(id order by id) as ids, min(line_total_minor) as first_minor
         from billables where tenant_id = $1 and invoice_id = invoice
       ) billed
     ) credited`,
    [id, creditNotes, creditNotes.length === 0 ? [] : invoices, partMinor, benchCaller.subject]
  )

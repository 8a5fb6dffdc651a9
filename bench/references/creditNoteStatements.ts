import { settlementText } from "./invoiceSettlement.ts"
import { eventColumns } from "./invoicingStatements.ts"
import { bookingText } from "./journal.ts"

/** The service's own statements, named so that each connection prepares them once. */
export const lockClientOfNote = {
  name: "credit_notes.lockClient",
  text: `
    select 1 from clients where tenant_id = $1
      and id = (select client_id from credit_notes where tenant_id = $1 and id = $2)
    for no key update`
}

const readNoteText = `
  select this."id" as "id", this."invoice_id" as "invoice", this."client_id" as "client", this."status" as "status",
    this."credit_note_number" as "creditNoteNumber", this."currency_code" as "currencyCode",
    this."reason" as "reason", this."full" as "full", this."lines" as "lines",
    this."subtotal_minor" as "subtotalMinor", this."discount_minor" as "discountMinor", this."taxes" as "taxes",
    this."tax_minor" as "taxMinor", this."total_minor" as "totalMinor", this."allocations" as "allocations",
    this."unallocated_minor" as "unallocatedMinor", this."refunded_minor" as "refundedMinor",
    this."issued_at" as "issuedAt", this."created_by" as "createdBy", this."created_at" as "createdAt",
    this."updated_at" as "updatedAt", this.sequence
  from credit_notes this where this.tenant_id = $1 and this.id = $2`

export const readNote = { name: "credit_notes.read", text: readNoteText }
export const lockNote = { name: "credit_notes.lock", text: `${readNoteText} for update of this` }

/** What is credited of an invoice, and the named lines with what is credited of each. */
export const loadCredits = {
  name: "credit_notes.credits",
  text: `
    select invoices.tax_sets as "taxSets",
      (select tax_sets from invoice_credits where tenant_id = $1 and invoice_id = $2) as credited,
      coalesce((
        select json_agg(json_build_object('id', id, 'quantity', quantity, 'lineTotalMinor', line_total_minor,
          'taxRates', tax_rates, 'creditedQuantity', credited_quantity::text, 'creditedMinor', credited_minor))
        from billables where tenant_id = $1 and invoice_id = $2
          and id in (select json_array_elements_text($3::json))
      ), '[]') as lines
    from invoices where tenant_id = $1 and id = $2`
}

export const readTimeZone = {
  name: "tenants.timeZone",
  text: `select time_zone as "timeZone" from tenants where id = $1`
}

const wantedLines = `json_to_recordset($4::json) as wanted (billable text, quantity numeric, "amountMinor" bigint)`

/** Adds what a note credits to the lines and the tax sets of its invoice. */
const creditText = `
  credited_sets as (
    insert into invoice_credits (tenant_id, invoice_id, tax_sets) values ($1, $2, $6::json)
    on conflict (tenant_id, invoice_id) do update set tax_sets = excluded.tax_sets
  ), credited_lines as (
    insert into credit_note_lines (tenant_id, credit_note_id, billable_id, quantity, amount_minor, before_minor)
    select tenant_id, $3, id, wanted.quantity, wanted."amountMinor", credited_minor
    from ${wantedLines}
    join billables on tenant_id = $1 and invoice_id = $2 and id = wanted.billable
  ), credited as (
    update billables set credited_minor = credited_minor + wanted."amountMinor",
      credited_quantity = credited_quantity + coalesce(wanted.quantity, 0),
      released = released or (reference_id is not null and id in (select json_array_elements_text($5::json)))
    from ${wantedLines}
    where tenant_id = $1 and invoice_id = $2 and id = wanted.billable
  )`

/** Updates a note and inserts its event. Its parameters follow the `first` parameters of the statement. */
const noteUpdateText = (first: number) => {
  const $ = (n: number) => `$${first + n}`
  return `changed as (
      update credit_notes this set "id" = ${$(1)}, "invoice_id" = ${$(2)}, "client_id" = ${$(3)}, "status" = ${$(4)},
        "credit_note_number" = ${$(5)}, "currency_code" = ${$(6)}, "reason" = ${$(7)}, "full" = ${$(8)},
        "lines" = ${$(9)}, "subtotal_minor" = ${$(10)}, "discount_minor" = ${$(11)}, "taxes" = ${$(12)},
        "tax_minor" = ${$(13)}, "total_minor" = ${$(14)}, "allocations" = ${$(15)}, "unallocated_minor" = ${$(16)},
        "refunded_minor" = ${$(17)}, "issued_at" = ${$(18)}, "created_by" = ${$(19)}, "created_at" = ${$(20)},
        "updated_at" = ${$(21)}, "period" = ${$(22)}, "place" = ${$(23)}, "credited_before" = ${$(24)},
        "sequence" = ${$(25)}
      where this.tenant_id = ${$(26)} and this.id = ${$(27)} and this.sequence = ${$(28)}
      returning 1
    ), event as (
      insert into events (${eventColumns})
      select ${$(29)}, ${$(30)}, ${$(31)}, ${$(32)}, ${$(33)}, ${$(34)}::integer, ${$(35)}::timestamptz,
        ${$(36)}::text, ${$(37)}::json
      from changed
    )
    select 1 / count(*) from changed`
}

/** Credits the lines, books and finalizes a note, enqueues its file, and settles its invoice, in one statement. */
export const finalizeLockedNote = {
  name: "credit_notes.finalize",
  text: `
    with ${creditText}, enqueued as (
      insert into invoice_file_queue (tenant_id, invoice_id, variant) values ($1, $3, 'CREDIT_NOTE')
      on conflict do nothing
    ), ${bookingText(6)}, ${settlementText(12)}, ${noteUpdateText(16)}`
}

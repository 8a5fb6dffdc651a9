import { settlementText } from "./invoiceSettlement.ts"
import { eventColumns, invoiceColumns } from "./invoicingStatements.ts"
import { bookingText } from "./journal.ts"

const lockPayerText = `
  select (select id from payments where tenant_id = $1 and external_id = $2 and status = 'RECORDED') as duplicate
  from clients where tenant_id = $1 and id = $3 for no key update of clients`

/** The service's own statements, named so that each connection prepares them once. */
export const lockPayer = { name: "payments.lockPayer", text: lockPayerText }

/** Locks the client, then the invoices by id. */
export const lockPayerAndInvoices = {
  name: "payments.lock",
  text: `
    with first as materialized (${lockPayerText})
    select ${invoiceColumns}, this.sequence, row_to_json(first) as first, this.client_id as client
    from first, invoices this
    where this.tenant_id = $1 and this.id in (select json_array_elements_text($4::json))
    order by this.id for no key update of this`
}

/** Books a payment, settles the invoices, and inserts the payment and its event, in one statement. */
export const recordPayment = {
  name: "payments.record",
  text: `
    with ${bookingText(0)}, ${settlementText(6)}, changed as (
      insert into payments (tenant_id, id, client_id, currency_code, amount_minor, received_at, method, reference,
        external_id, status, allocations, unallocated_minor, refunded_minor, reversed_at, reversal_reason, created_by,
        created_at, updated_at, sequence)
      values ($11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29)
      returning 1
    )
    insert into events (${eventColumns})
    select $30, $31, $32, $33, $34, $35::integer, $36::timestamptz, $37::text, $38::json from changed`
}

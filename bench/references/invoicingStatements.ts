/** The service's own statements, named so that each connection prepares them once. */
export const lockInvoiceStatement = {
  name: "invoices.lock",
  text: `
    with first as materialized (
      select id, client_id as client, currency_code as "currencyCode", payment_term_days as "paymentTermDays",
        cap_minor as "capMinor", billed_minor as "billedMinor"
      from contracts where tenant_id = $1
        and id = (select contract_id from invoices where tenant_id = $2 and id = $3)
      for no key update)
    select this."id" as "id", this."contract_id" as "contract", this."status" as "status",
      this."invoice_number" as "invoiceNumber", this."currency_code" as "currencyCode",
      this."subtotal_minor" as "subtotalMinor", this."total_minor" as "totalMinor",
      this."billable_count" as "billableCount", this."issued_at" as "issuedAt", this."due_at" as "dueAt",
      this."paid_at" as "paidAt", this."created_at" as "createdAt", this."updated_at" as "updatedAt", this.sequence,
      row_to_json(first) as first
    from first, invoices this where this.tenant_id = $4 and this.id = $5 for update of this`
}

export const findBilledReferences = {
  name: "billables.references",
  text: `
    select reference_type as "referenceType", reference_id as "referenceId", invoice_id as invoice
    from json_to_recordset($1::json) as wanted ("referenceType" text, "referenceId" text)
    join billables on tenant_id = $2 and not released
      and reference_type = wanted."referenceType" and reference_id = wanted."referenceId"`
}

const billableColumns = `
  "tenant_id", "id", "invoice_id", "name", "quantity", "amount_minor", "currency_code", "reference_type",
  "reference_id", "description", "metadata", "order", "line_total_minor", "created_at", "updated_at", "sequence"`

const eventColumns = "tenant_id, id, type, resource_id, client_id, sequence, occurred_at, data"

/** Updates an invoice and inserts its event. Its parameters follow the `first` parameters of the statement. */
const invoiceUpdateText = (first: number) => {
  const $ = (n: number) => `$${first + n}`
  return `changed as (
      update invoices this set "id" = ${$(1)}, "contract_id" = ${$(2)}, "status" = ${$(3)},
        "invoice_number" = ${$(4)}, "currency_code" = ${$(5)}, "subtotal_minor" = ${$(6)}, "total_minor" = ${$(7)},
        "billable_count" = ${$(8)}, "issued_at" = ${$(9)}, "due_at" = ${$(10)}, "paid_at" = ${$(11)},
        "created_at" = ${$(12)}, "updated_at" = ${$(13)}, "sequence" = ${$(14)}
      where this.tenant_id = ${$(15)} and this.id = ${$(16)} and this.sequence = ${$(17)}
      returning 1
    ), event as (
      insert into events (${eventColumns})
      select ${$(18)}, ${$(19)}, ${$(20)}, ${$(21)},
        (select client_id from contracts where tenant_id = ${$(22)} and id = ${$(23)}), ${$(24)}::integer,
        ${$(25)}::timestamptz, ${$(26)}::json
      from changed
    )
    select 1 / count(*) from changed`
}

const billedUpdateText = (first: number) =>
  `billed as (
      update contracts set billed_minor = $${first + 1} where tenant_id = $${first + 2} and id = $${first + 3}
    )`

/** Inserts the lines and their events, and updates the contract and the invoice, in one statement. */
export const addBillables = {
  name: "billables.add",
  text: `
    with lines as (
      insert into billables (${billableColumns})
      select ${billableColumns} from json_populate_recordset(null::billables, $1::json)
      order by reference_type, reference_id
    ), line_events as (
      insert into events (${eventColumns}) select ${eventColumns}
      from json_populate_recordset(null::events, $2::json)
    ), ${billedUpdateText(2)}, ${invoiceUpdateText(5)}`
}

/** Releases the references of the lines, and updates the contract and the invoice, in one statement. */
export const voidLockedInvoice = {
  name: "invoices.void",
  text: `
    with released as (
      update billables set released = true
      where tenant_id = $1 and invoice_id = $2 and reference_id is not null
    ), ${billedUpdateText(2)}, ${invoiceUpdateText(5)}`
}

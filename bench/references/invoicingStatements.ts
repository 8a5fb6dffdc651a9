/** The service's own statements, named so that each connection prepares them once. */
const balanceText = `
  case this.status when 'VOID' then 0
    else greatest(this.total_minor - this.paid_minor - this.credited_minor - this.written_off_minor, 0) end`

const invoiceColumns = `
  this."id" as "id", this."contract_id" as "contract", this."status" as "status",
  this."invoice_number" as "invoiceNumber", this."currency_code" as "currencyCode",
  this."subtotal_minor" as "subtotalMinor", this."discount_minor" as "discountMinor", this."taxes" as "taxes",
  this."tax_minor" as "taxMinor", this."total_minor" as "totalMinor", this."paid_minor" as "paidMinor",
  this."credited_minor" as "creditedMinor", this."written_off_minor" as "writtenOffMinor",
  ${balanceText} as "balanceMinor", this."billable_count" as "billableCount", this."issued_at" as "issuedAt",
  this."due_at" as "dueAt", this."discount" as "discount", this."discount_reason" as "discountReason",
  this."paid_at" as "paidAt", this."created_at" as "createdAt", this."updated_at" as "updatedAt"`

export const lockInvoiceStatement = {
  name: "invoices.lock",
  text: `
    with first as materialized (
      select id, client_id as client, currency_code as "currencyCode", payment_term_days as "paymentTermDays",
        cap_minor as "capMinor", billed_minor as "billedMinor",
        coalesce(default_tax_rates, (select default_tax_rates from tenants where id = $1)) as "defaultTaxRates"
      from contracts where tenant_id = $1
        and id = (select contract_id from invoices where tenant_id = $2 and id = $3)
      for no key update)
    select ${invoiceColumns}, this.tax_sets as hidden, this.sequence,
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
  "reference_id", "description", "metadata", "order", "tax_rates", "discount_minor", "line_total_minor", "created_at",
  "updated_at", "sequence"`

const eventColumns =
  "tenant_id, id, type, resource_id, client_id, sequence, occurred_at, created_by, trace_parent, data"

/** Updates an invoice and inserts its event. Its parameters follow the `first` parameters of the statement. */
const invoiceUpdateText = (first: number) => {
  const $ = (n: number) => `$${first + n}`
  return `changed as (
      update invoices this set "id" = ${$(1)}, "contract_id" = ${$(2)}, "status" = ${$(3)},
        "invoice_number" = ${$(4)}, "currency_code" = ${$(5)}, "subtotal_minor" = ${$(6)}, "discount_minor" = ${$(7)},
        "taxes" = ${$(8)}, "tax_minor" = ${$(9)}, "total_minor" = ${$(10)}, "paid_minor" = ${$(11)},
        "credited_minor" = ${$(12)}, "written_off_minor" = ${$(13)}, "billable_count" = ${$(14)},
        "issued_at" = ${$(15)}, "due_at" = ${$(16)}, "discount" = ${$(17)}, "discount_reason" = ${$(18)},
        "paid_at" = ${$(19)}, "created_at" = ${$(20)}, "updated_at" = ${$(21)}, "sequence" = ${$(22)}
      where this.tenant_id = ${$(23)} and this.id = ${$(24)} and this.sequence = ${$(25)}
      returning 1
    ), event as (
      insert into events (${eventColumns})
      select ${$(26)}, ${$(27)}, ${$(28)}, ${$(29)},
        (select client_id from contracts where tenant_id = ${$(30)} and id = ${$(31)}), ${$(32)}::integer,
        ${$(33)}::timestamptz, ${$(34)}::text, ${$(35)}::text, ${$(36)}::json
      from changed
    )
    select 1 / count(*) from changed`
}

/** Inserts the lines and their events, and updates the invoice, in one statement. */
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
    ), ${invoiceUpdateText(2)}`
}

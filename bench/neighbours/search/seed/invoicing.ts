import { draftCount, draftLines, issuedInvoices, largeIssuedCount, type Pools } from "../pools.ts"
import { id, series, setting, sizesOf, spread, tenant, text } from "./sql.ts"

/** Lines as bench/creditNoteSeed.ts expects them. */
const line = { quantity: 1.5, amountMinor: 10_000, totalMinor: 15_000 }

/** Terms of the first rate of the neighbour. */
const vat = { name: "Tax 0", percent: 8.1, category: "S" }

const largeLines = 4000
const issuedLines = 3
const issuedCount = issuedInvoices.paid.from + issuedInvoices.paid.size

interface InvoiceSeed {
  readonly label: string
  readonly size: number
  readonly lines: number
  readonly contract: string
  readonly isIssued: boolean
  /** The tax rates of all lines: none, or the one that an e-invoice needs. */
  readonly taxRates: ReadonlyArray<string>
}

/** The amounts of a seeded invoice, as the service computes them. */
const listAmounts = ({ lines, taxRates }: InvoiceSeed) => {
  const netMinor = lines * line.totalMinor
  if (taxRates.length === 0) return `${netMinor}, 0, ${netMinor}, '[]'::json, '[]'::json`
  const taxMinor = Math.round((netMinor * vat.percent) / 100)
  const taxes = JSON.stringify([{ taxRates, ...vat, baseMinor: netMinor, taxMinor }])
  const taxSets = JSON.stringify([{ taxRates, netMinor, lineCount: lines }])
  return `${netMinor}, ${taxMinor}, ${netMinor + taxMinor}, '${taxes}'::json, '${taxSets}'::json`
}

const insertInvoices = (seed: InvoiceSeed) => {
  const { contract, isIssued, label, lines, size, taxRates } = seed
  return [
    `insert into invoices (tenant_id, id, contract_id, status, currency_code, subtotal_minor, tax_minor, total_minor, taxes,
     tax_sets, billable_count, created_at, updated_at, sequence, invoice_number, period, place, parties, issued_at, due_at)
   select ${tenant}, ${id(`inv_${label}`)}, ${contract}, '${isIssued ? "FINALIZED" : "DRAFT"}', 'CHF',
     ${listAmounts(seed)}, ${lines}, now(), now(), 1, issued.*
   from ${series(size)} left join lateral (
     select 'INV-2026-' || lpad((n + 1)::text, 6, '0'), '2026', n + 1, ${setting("parties")}::json, ${spread(size)},
       ${spread(size)} + interval '30 days'
   ) issued (number, period, place, parties, at, due) on ${isIssued}`,
    `insert into billables (tenant_id, id, invoice_id, name, description, quantity, amount_minor, currency_code,
     line_total_minor, reference_type, reference_id, tax_rates, created_at, updated_at, sequence)
   select ${tenant}, ${id(`bil_${label}`, `n * ${lines} + l`)}, ${id(`inv_${label}`)}, 'Work of day ' || l, '${text}',
     ${line.quantity}, ${line.amountMinor}, 'CHF', ${line.totalMinor}, 'timesheet', '${label}' || n || '.' || l,
     '${JSON.stringify(taxRates)}', now(), now(), 1
   from ${series(size)}, generate_series(0, ${lines - 1}) l`
  ]
}

const { credited, paid, paidAndCredited, writtenOff } = issuedInvoices

/** The first ones are of one contract. What they are settled with is of its client too. */
const issuedContract = `case when n < ${credited.from} then ${id("ctr_large", 0)}
  when n < ${credited.from + paidAndCredited} then ${id("ctr_contract", "2 * (n % 1000)")}
  else ${id("ctr_contract", "n % 5000")} end`

/** Small and large drafts, and issued invoices. */
export const makeInvoiceStatements = (pools: Pools) => {
  const sizeOf = sizesOf(pools)
  const large = largeIssuedCount + sizeOf("largeDraft")
  const draft = { contract: id("ctr_contract"), isIssued: false, taxRates: [] }
  return [
    ...insertInvoices({ ...draft, label: "draft", size: draftCount, lines: draftLines }),
    ...insertInvoices({
      ...draft,
      label: "large",
      size: large,
      lines: largeLines,
      taxRates: [pools["taxRate"]?.getId(0) ?? ""]
    }),
    ...insertInvoices({
      label: "issued",
      size: issuedCount,
      lines: issuedLines,
      contract: issuedContract,
      isIssued: true,
      taxRates: []
    })
  ]
}

const isBetween = (from: number, to: number) => `id >= ${id("inv_issued", from)} and id < ${id("inv_issued", to)}`
const isWrittenOff = isBetween(writtenOff.from, credited.from)
const isPaid = `(${isBetween(paid.from, issuedCount)} or ${isBetween(credited.from, credited.from + paidAndCredited)})`

const insertPayments = `insert into payments (tenant_id, id, client_id, currency_code, amount_minor, received_at, status,
  allocations, unallocated_minor, refunded_minor, created_at, updated_at, sequence)`

/** Triggers would book each payment by itself, which takes minutes. */
const insertJournal = `
  insert into journal_entries (tenant_id, kind, booked_at, client_id, currency_code, invoice_id, invoice_minor,
    invoice_place, balance_minor, paid_minor, credited_minor, written_off_minor, payment_id, credit_minor, payment_place,
    unused_minor)
  select * from (
    select tenant_id, 'INVOICE', issued_at as booked_at, client_id, currency_code, id, total_minor, 1, total_minor,
      0::bigint, 0::bigint, 0::bigint, null, 0::bigint, null::integer, null::bigint
    from invoices where tenant_id = ${tenant} and status in ('FINALIZED', 'PAID')
    union all
    select tenant_id, 'PAYMENT', received_at, client_id, currency_code, null, 0, null, null, null, null, null, id,
      amount_minor, 1, amount_minor
    from payments where tenant_id = ${tenant}
    union all
    select tenant_id, 'ALLOCATION', paid_at, client_id, currency_code, id, -total_minor, 2, 0, total_minor, 0, 0,
      'pay_' || substr(id, 5), -total_minor, 2, 0
    from invoices where tenant_id = ${tenant} and status = 'PAID'
    union all
    select tenant_id, 'WRITE_OFF', due_at, client_id, currency_code, id, -1, 2, total_minor - 1, 0, 0, 1, null, 0, null,
      null
    from invoices where tenant_id = ${tenant} and written_off_minor > 0
  ) entries order by booked_at`

/** Paid invoices with their payments, payments of which nothing is allocated, and the journal of all. */
export const makeSettlementStatements = (pools: Pools) => {
  const payments = sizesOf(pools)("payment")
  return [
    `insert into invoice_series (tenant_id, pattern) values (${tenant}, 'INV-{year}-{seq:6}')`,
    `insert into invoice_counters (tenant_id, period, last) values (${tenant}, '2026', ${issuedCount})`,
    `update invoices set status = 'PAID', paid_at = issued_at + interval '20 days', paid_minor = total_minor
     where tenant_id = ${tenant} and ${isPaid}`,
    `update invoices set written_off_minor = 1 where tenant_id = ${tenant} and ${isWrittenOff}`,
    `${insertPayments}
     select tenant_id, 'pay_' || substr(id, 5), client_id, currency_code, total_minor, paid_at, 'RECORDED',
       json_build_array(json_build_object('invoice', id, 'amountMinor', total_minor)), 0, 0, now(), now(), 1
     from invoices where tenant_id = ${tenant} and status = 'PAID'`,
    `${insertPayments}
     select ${tenant}, ${id("pay_open")}, ${id("clnt_large", 0)}, 'CHF', 1000000, ${spread(payments)}, 'RECORDED', '[]',
       1000000, 0, now(), now(), 1
     from ${series(payments)}`,
    insertJournal
  ]
}

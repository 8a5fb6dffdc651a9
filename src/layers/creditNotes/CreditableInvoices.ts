import * as SqlClient from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import { Effect } from "effect"
import {
  type Credit,
  type CreditableInvoice,
  type CreditableLine,
  type CreditContent,
  creditInvoice
} from "../../domain/creditNotes/Crediting.ts"
import type { CreditNote } from "../../domain/creditNotes/CreditNote.ts"
import type { TaxSet } from "../../domain/invoicing/draft/TaxSets.ts"
import type { Invoice } from "../../domain/invoicing/Invoice.ts"
import { CurrentTenant } from "../../domain/tenancy/RequestContext.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"

interface CreditsRow {
  readonly taxSets: ReadonlyArray<TaxSet>
  readonly credited: ReadonlyArray<TaxSet> | null
  readonly lines: ReadonlyArray<CreditableLine>
}

/** Reads what can be credited of invoices, and writes what is credited. */
export class CreditableInvoices extends Effect.Service<CreditableInvoices>()("layers/CreditableInvoices", {
  effect: Effect.map(SqlClient.SqlClient, (sql) => {
    /** The tax sets of an invoice, what is credited of them, and the named lines with what is credited of each. */
    const loadCredits = (tenant: string, invoice: string, ids: ReadonlyArray<string>) => sql<CreditsRow>`
      select invoices.tax_sets as "taxSets",
        (select tax_sets from invoice_credits where tenant_id = ${tenant} and invoice_id = ${invoice}) as credited,
        coalesce((
          select json_agg(json_build_object('id', id, 'quantity', quantity, 'lineTotalMinor', line_total_minor,
            'taxRates', tax_rates, 'creditedQuantity', credited_quantity::text, 'creditedMinor', credited_minor))
          from billables where tenant_id = ${tenant} and invoice_id = ${invoice}
            and id in (select json_array_elements_text(${JSON.stringify(ids)}::json))
        ), '[]') as lines
      from invoices where tenant_id = ${tenant} and id = ${invoice}`

    const load = Effect.fnUntraced(function* (invoice: Invoice, ids: ReadonlyArray<string>) {
      const tenant = yield* CurrentTenant
      const [row] = yield* Effect.orDie(loadCredits(tenant, invoice.id, ids))
      const creditable: CreditableInvoice = { invoice, taxSets: row?.taxSets ?? [], credited: row?.credited ?? [] }
      return { creditable, lines: new Map((row?.lines ?? []).map((line) => [line.id as string, line])) }
    })

    /** The CTE that inserts the lines of a finalized note, from those of its invoice. */
    const buildLines = (tenant: string, { full, id, invoice, lines }: CreditNote): Fragment =>
      full
        ? sql`credited_lines as (
            insert into credit_note_lines (tenant_id, credit_note_id, billable_id, amount_minor, before_minor)
            select tenant_id, ${id}, id, line_total_minor - credited_minor, credited_minor from billables
            where tenant_id = ${tenant} and invoice_id = ${invoice}
              and (credited_minor <> line_total_minor or line_total_minor = 0))`
        : sql`credited_lines as (
            insert into credit_note_lines
              (tenant_id, credit_note_id, billable_id, quantity, amount_minor, before_minor)
            select tenant_id, ${id}, id, wanted.quantity, wanted."amountMinor", credited_minor
            from json_to_recordset(${JSON.stringify(lines)}::json)
              as wanted (billable text, quantity numeric, "amountMinor" bigint)
            join billables on tenant_id = ${tenant} and invoice_id = ${invoice} and id = wanted.billable)`

    /** Adds what is credited to the lines of the invoice. What is credited in full can be billed again. */
    const buildCredited = (
      tenant: string,
      { full, invoice, lines }: CreditNote,
      completed: Credit["completed"]
    ): Fragment =>
      full
        ? sql`
            update billables set credited_minor = line_total_minor, credited_quantity = quantity,
              released = released or reference_id is not null
            where tenant_id = ${tenant} and invoice_id = ${invoice}`
        : sql`
            update billables set credited_minor = credited_minor + wanted."amountMinor",
              credited_quantity = credited_quantity + coalesce(wanted.quantity, 0),
              released = released or (reference_id is not null
                and id in (select json_array_elements_text(${JSON.stringify(completed ?? [])}::json)))
            from json_to_recordset(${JSON.stringify(lines)}::json)
              as wanted (billable text, quantity numeric, "amountMinor" bigint)
            where tenant_id = ${tenant} and invoice_id = ${invoice} and id = wanted.billable`

    return {
      /** Decides what a note credits of an invoice now. */
      credit: Effect.fnUntraced(function* (invoice: Invoice, content: CreditContent) {
        const ids = content.full ? [] : content.lines.map(({ billable }) => billable)
        const { creditable, lines } = yield* load(invoice, ids)
        return yield* creditInvoice(creditable, content, lines)
      }),

      /** What is credited of an invoice so far. */
      load: (invoice: Invoice) => Effect.map(load(invoice, []), ({ creditable }) => creditable),

      /** Writes what a note credits. The invoice is locked. */
      write: Effect.fnUntraced(function* (note: CreditNote, { after, completed }: Credit) {
        const tenant = yield* CurrentTenant
        const sums = sql`credited_sets as (
          insert into invoice_credits (tenant_id, invoice_id, tax_sets)
          values (${tenant}, ${note.invoice}, ${JSON.stringify(after)}::json)
          on conflict (tenant_id, invoice_id) do update set tax_sets = excluded.tax_sets)`
        const lines = buildLines(tenant, note)
        yield* sql`with ${sums}, ${lines} ${buildCredited(tenant, note, completed)}`
      }, Effect.orDie)
    }
  }).pipe(withSpans("CreditableInvoices"))
}) {}

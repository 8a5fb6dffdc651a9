import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import type { JournalAccount, JournalEntry } from "../../domain/journal/JournalEntry.ts"
import { CurrentTenant, currentSubject } from "../../domain/tenancy/RequestContext.ts"
import { omitNulls, type Row } from "../infra/postgres/repository/Columns.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"

/**
 * The append-only journal: every amount that a client owes, pays or is released from. The database numbers the entries
 * of an invoice, of a payment and of a credit note, adds their sums, and holds these equal to them.
 */
export class Journal extends Effect.Service<Journal>()("layers/Journal", {
  effect: Effect.map(SqlClient.SqlClient, (sql) => ({
    /** One page of entries in the order of their ids. */
    pageByAge: (after: string | undefined, limit: number) =>
      Effect.flatMap(CurrentTenant, (tenant) =>
        Effect.orDie(sql<Row & { readonly id: number }>`
          select id, kind, booked_at as "bookedAt", client_id as client, currency_code as "currencyCode",
            invoice_id as invoice, invoice_minor as "invoiceMinor", payment_id as payment,
            credit_note_id as "creditNote", credit_minor as "creditMinor", reason, created_by as "createdBy"
          from journal_entries where tenant_id = ${tenant} and id > ${after ?? "0"}::bigint order by id limit ${limit}`)
      ).pipe(Effect.map((rows) => rows.map((row) => ({ ...omitNulls(row), id: row.id })))),

    /** Builds the CTE that books entries, in their order. `at` is the time of booking, by default now. */
    buildBooking: Effect.fnUntraced(function* (
      { client, currencyCode }: JournalAccount,
      entries: ReadonlyArray<JournalEntry>,
      at?: string
    ) {
      const tenant = yield* CurrentTenant
      const createdBy = yield* currentSubject
      return sql`booked as (
        insert into journal_entries (tenant_id, kind, booked_at, client_id, currency_code, invoice_id, invoice_minor,
          payment_id, credit_note_id, credit_minor, reason, created_by)
        select ${tenant}, kind, coalesce(${at ?? null}::timestamptz, clock_timestamp()), ${client}, ${currencyCode},
          invoice, coalesce("invoiceMinor", 0), payment, "creditNote", coalesce("creditMinor", 0), reason,
          ${createdBy ?? null}
        from json_to_recordset(${JSON.stringify(entries)}::json) as given (kind text, invoice text,
          "invoiceMinor" bigint, payment text, "creditNote" text, "creditMinor" bigint, reason text))`
    })
  })).pipe(withSpans("Journal"))
}) {}

import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import type { CreditedBillable } from "../../domain/creditNotes/CreditExplanation.ts"
import type { CreditNote } from "../../domain/creditNotes/CreditNote.ts"
import { CurrentTenant } from "../../domain/tenancy/RequestContext.ts"
import type { Row } from "../infra/postgres/repository/Columns.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"
import { Billables } from "../invoicing/Billables.ts"

interface LineRow {
  readonly billable: string
  readonly quantity: number | null
  readonly amountMinor: number
  readonly beforeMinor: number
}

/** The place of a line among the saved lines of all notes. */
interface SavedLine {
  readonly creditNote: string
  readonly billable: string
}

/** Reads the lines that a credit note credits: those of a finalized note as saved, those of a draft as of now. */
export class CreditNoteLines extends Effect.Service<CreditNoteLines>()("layers/CreditNoteLines", {
  dependencies: [Billables.Default],
  effect: Effect.zipWith(SqlClient.SqlClient, Billables, (sql, billables) => {
    const selectSaved = (tenant: string, { id }: CreditNote) => sql<LineRow>`
      select billable_id as billable, quantity, amount_minor as "amountMinor", before_minor as "beforeMinor"
      from credit_note_lines where tenant_id = ${tenant} and credit_note_id = ${id}`

    const selectDrafted = (tenant: string, { full, invoice, lines }: CreditNote) =>
      full
        ? sql<LineRow>`
            select id as billable, null as quantity, line_total_minor - credited_minor as "amountMinor",
              credited_minor as "beforeMinor"
            from billables where tenant_id = ${tenant} and invoice_id = ${invoice}
              and (credited_minor <> line_total_minor or line_total_minor = 0)`
        : sql<LineRow>`
            select id as billable, wanted.quantity, wanted."amountMinor", credited_minor as "beforeMinor"
            from json_to_recordset(${JSON.stringify(lines)}::json)
              as wanted (billable text, quantity numeric, "amountMinor" bigint)
            join billables on tenant_id = ${tenant} and invoice_id = ${invoice} and id = wanted.billable`

    return {
      /** One page of the saved lines of all notes, in the order of their notes. `after` is a line of the page before. */
      page: (after: SavedLine | undefined, limit: number) =>
        Effect.flatMap(CurrentTenant, (tenant) =>
          Effect.orDie(sql<Row & SavedLine>`
            select credit_note_id as "creditNote", billable_id as billable, quantity, amount_minor as "amountMinor"
            from credit_note_lines
            where tenant_id = ${tenant}
              and (credit_note_id, billable_id) > (${after?.creditNote ?? ""}, ${after?.billable ?? ""})
            order by credit_note_id, billable_id limit ${limit}`)
        ),

      /** The credited lines, in the order of the invoice. */
      load: Effect.fnUntraced(function* (note: CreditNote) {
        const tenant = yield* CurrentTenant
        const select = note.status === "FINALIZED" ? selectSaved : selectDrafted
        const rows = new Map((yield* Effect.orDie(select(tenant, note))).map((row) => [row.billable, row]))
        const lines = yield* billables.listAll({ invoice: note.invoice })
        return lines.flatMap(({ value }): ReadonlyArray<CreditedBillable> => {
          const row = rows.get(value.id)
          if (row === undefined) return []
          const { amountMinor, beforeMinor, quantity } = row
          return [{ line: value, amountMinor, beforeMinor, ...(quantity === null ? {} : { quantity }) }]
        })
      })
    }
  }).pipe(withSpans("CreditNoteLines"))
}) {}

import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { CreditNote, type CreditNoteStatus } from "../../domain/creditNotes/CreditNote.ts"
import { useOwnCredit } from "../../domain/creditNotes/OwnCredit.ts"
import { allocationEntry } from "../../domain/journal/JournalEntry.ts"
import type { PageRequest } from "../../domain/Paging.ts"
import type { Allocation } from "../../domain/payments/Allocation.ts"
import { makeResource } from "../infra/postgres/repository/Resource.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"

interface Filter {
  readonly invoiceId?: string | undefined
  readonly clientId?: string | undefined
  readonly status?: CreditNoteStatus | undefined
  readonly number?: string | undefined
}

/** Maximum number of notes that one reversal uses. Others keep what they have left. */
const maxNotesUsed = 1000

/** Repository of credit notes. Changes neither invoices nor the journal. */
export class CreditNotes extends Effect.Service<CreditNotes>()("layers/CreditNotes", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const notes = yield* makeResource({
      name: "credit_note",
      table: "credit_notes",
      entity: CreditNote,
      relations: ["invoice", "client"],
      clientOf: ({ client }) => client
    })

    return {
      ...notes,

      list: (window: PageRequest, { clientId, invoiceId, number, status }: Filter) =>
        notes.page(window, { invoice: invoiceId, client: clientId, status, creditNoteNumber: number }),

      /**
       * Settles invoices of a client, which a reversal is about to open again, with what their own notes have left. The
       * client and the invoices are locked. Returns what the notes settle, the journal entries, and the CTEs that write
       * the notes.
       */
      useForReopened: Effect.fnUntraced(function* (client: string, reopened: ReadonlyArray<Allocation>) {
        const ids = JSON.stringify(reopened.map(({ invoice }) => invoice))
        const locked = yield* notes.lockWhere(
          sql`this.unallocated_minor > 0 and this.invoice_id in (select json_array_elements_text(${ids}::json))`,
          maxNotesUsed
        )
        const uses = useOwnCredit(
          reopened,
          locked.map(({ value }) => value)
        )
        const changes = uses.flatMap(({ note }) => {
          const version = locked.find(({ value }) => value.id === note.id)
          return version === undefined ? [] : [{ version, action: "allocated" as const, next: note }]
        })
        const ctes =
          changes.length === 0
            ? []
            : [(yield* notes.buildBulkUpdate(changes, client, ["allocations", "unallocatedMinor"])).cte]
        return {
          allocations: uses.map(({ allocation }) => allocation),
          entries: uses.map(({ allocation, note }) => allocationEntry({ creditNote: note.id }, allocation)),
          ctes
        }
      })
    }
  }).pipe(withSpans("CreditNotes"))
}) {}

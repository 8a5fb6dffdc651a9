import * as SqlClient from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import { Effect } from "effect"
import type { ClientId } from "../../domain/contracting/Client.ts"
import { NotFound } from "../../domain/Errors.ts"
import type { Invoice } from "../../domain/invoicing/Invoice.ts"
import { type AllocatedInvoice, type Settlement, settleInvoice } from "../../domain/settlement/Settlement.ts"
import { CurrentTenant } from "../../domain/tenancy/RequestContext.ts"
import type { Versioned } from "../infra/postgres/repository/ResourceSpec.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"
import { Invoices } from "../invoicing/Invoices.ts"

/** Locked invoices by id, each with the client of its contract. */
export type LockedInvoices = ReadonlyMap<
  string,
  AllocatedInvoice & { readonly client: ClientId; readonly version: Versioned<Invoice> }
>

/** The fields that a settlement changes. */
const settledFields = ["status", "paidAt", "paidMinor", "creditedMinor", "writtenOffMinor"] as const

const none: LockedInvoices = new Map()

/** Locks invoices and writes what settles them. */
export class SettledInvoices extends Effect.Service<SettledInvoices>()("layers/SettledInvoices", {
  dependencies: [Invoices.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const invoices = yield* Invoices

    /**
     * Locks the row that `first` selects, then these invoices by id. The row is undefined if there is none; an invoice
     * that does not exist is left out.
     */
    const lockAfter = Effect.fnUntraced(function* <B extends object>(first: Fragment, ids: ReadonlyArray<string>) {
      const rows = ids.length === 0 ? [] : yield* invoices.lockAllAfter<B, ClientId>(first, ids, "client_id")
      const locked: LockedInvoices = new Map(
        rows.map(({ hidden, locked }) => [locked.value.id, { invoice: locked.value, client: hidden, version: locked }])
      )
      const row = rows[0]?.first ?? (yield* Effect.orDie(sql<B>`${first}`))[0]
      return { row, locked }
    })

    return {
      lockAfter,

      /** Locks the client of a document, which never changes. Fails if there is no such document. */
      lockClientOf: Effect.fnUntraced(function* (table: "payments" | "credit_notes" | "invoices", id: string) {
        const tenant = yield* CurrentTenant
        const locked = yield* Effect.orDie(sql<object>`
          select 1 from clients where tenant_id = ${tenant}
            and id = (select client_id from ${sql.literal(table)} where tenant_id = ${tenant} and id = ${id})
          for no key update`)
        if (locked.length === 0) return yield* Effect.fail(new NotFound())
        return undefined
      }),

      lock: (ids: ReadonlyArray<string>) =>
        ids.length === 0
          ? Effect.succeed(none)
          : Effect.map(lockAfter(sql`select true as locked`, ids), ({ locked }) => locked),

      /** Builds the CTEs that settle locked invoices of a client, each with its event. Returns the settled invoices too. */
      buildUpdates: Effect.fnUntraced(function* (
        locked: LockedInvoices,
        client: string,
        settlements: ReadonlyArray<Settlement>,
        at: string
      ) {
        const all = settlements.flatMap(({ changes, invoice }) => {
          const version = locked.get(invoice)?.version
          if (version === undefined) return []
          const { action, value: next } = settleInvoice(version.value, changes, at)
          return [{ version, action, next }]
        })
        if (all.length === 0) return { ctes: [], values: [] }
        const { cte, values } = yield* invoices.buildBulkUpdate(all, client, settledFields)
        return { ctes: [cte], values }
      })
    }
  }).pipe(withSpans("SettledInvoices"))
}) {}

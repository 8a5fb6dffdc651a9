import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { InvoiceExplainer } from "../../domain/invoicing/Explanation.ts"
import type { PagePosition } from "../../domain/Paging.ts"
import { inSnapshot } from "../infra/postgres/connection/Transactions.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"
import { Billables } from "./Billables.ts"
import { Invoices } from "./Invoices.ts"

/** Lines per page. Other requests run between the pages of a long invoice. */
const linesPerPage = 500

/** Explains how the total of an invoice is calculated. */
export class InvoiceExplanations extends Effect.Service<InvoiceExplanations>()("layers/InvoiceExplanations", {
  dependencies: [Billables.Default, Invoices.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const billables = yield* Billables
    const invoices = yield* Invoices

    return {
      /** Explains an invoice and its lines in one snapshot. */
      get: (id: string) =>
        Effect.gen(function* () {
          const invoice = yield* invoices.get(id)
          const explainer = new InvoiceExplainer()
          const lines: Array<string> = []
          for (let after: PagePosition | undefined, hasMore = true; hasMore; ) {
            // `page` returns one extra row when there are more.
            const found = yield* billables.page({ after, limit: linesPerPage }, { invoice: id })
            const page = found.slice(0, linesPerPage)
            for (const line of page) lines.push(JSON.stringify(explainer.explainLine(line)))
            after = page.at(-1)
            hasMore = found.length > linesPerPage
          }
          return explainer.encode(invoice, lines)
        }).pipe(inSnapshot(sql))
    }
  }).pipe(withSpans("InvoiceExplanations"))
}) {}

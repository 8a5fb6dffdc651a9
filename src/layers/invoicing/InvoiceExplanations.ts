import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { explanationText, lineExplainer } from "../../domain/invoicing/Explanation.ts"
import type { Position } from "../../domain/Paging.ts"
import { consistently } from "../postgres/connection/Transaction.ts"
import { Billables } from "./Billables.ts"
import { Invoices } from "./Invoices.ts"

/** How many lines are read and written out at a time, so that a long invoice holds up no other request. */
const linesPerPage = 500

/** Explains what invoices come to. */
export class InvoiceExplanations extends Effect.Service<InvoiceExplanations>()("layers/InvoiceExplanations", {
  dependencies: [Billables.Default, Invoices.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const billables = yield* Billables
    const invoices = yield* Invoices

    return {
      /** The explanation of an invoice and its lines as of one moment. */
      get: (id: string) =>
        Effect.gen(function* () {
          const invoice = yield* invoices.get(id)
          const explain = lineExplainer()
          const lines: Array<string> = []
          for (let after: Position | undefined, isMore = true; isMore; ) {
            // A page brings one line more, if there is one.
            const found = yield* billables.page({ after, limit: linesPerPage }, { invoice: id })
            const page = found.slice(0, linesPerPage)
            for (const line of page) lines.push(JSON.stringify(explain(line)))
            after = page.at(-1)
            isMore = found.length > linesPerPage
          }
          return explanationText(invoice, lines)
        }).pipe(consistently(sql))
    }
  })
}) {}

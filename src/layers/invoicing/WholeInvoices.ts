import * as SqlClient from "@effect/sql/SqlClient"
import { Effect, Schema } from "effect"
import type { Invoice } from "../../domain/invoicing/Invoice.ts"
import { Parties as PartiesSchema } from "../../domain/invoicing/Parties.ts"
import { consistently } from "../postgres/connection/Transaction.ts"
import { Billables } from "./Billables.ts"
import { InvoiceImages } from "./InvoiceImages.ts"
import { Invoices } from "./Invoices.ts"
import { Parties } from "./Parties.ts"

const decodeParties = Schema.decodeUnknown(PartiesSchema)

/** Reads an invoice with its lines and parties in one snapshot. */
export class WholeInvoices extends Effect.Service<WholeInvoices>()("layers/InvoiceDetails", {
  dependencies: [Billables.Default, Invoices.Default, Parties.Default, InvoiceImages.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const billables = yield* Billables
    const invoices = yield* Invoices
    const parties = yield* Parties
    const images = yield* InvoiceImages

    return {
      /** Everything that the PDF shows except the images. The caller reads these after the snapshot ends. */
      get: (id: string) =>
        Effect.gen(function* () {
          const invoice = yield* invoices.get(id)
          const lines = yield* billables.all({ invoice: id })
          const frozen = yield* invoices.frozenParties(id)
          const shownParties =
            frozen === undefined ? yield* parties.of(invoice.contract) : yield* Effect.orDie(decodeParties(frozen))
          return { invoice, lines: lines.map(({ value }) => value), parties: shownParties }
        }).pipe(consistently(sql)),

      images: ({ contract, id, invoiceNumber }: Invoice) => images.of(id, contract, invoiceNumber !== undefined)
    }
  })
}) {}

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

/** An invoice with its lines and who is on either side, all as of one moment. */
export class WholeInvoices extends Effect.Service<WholeInvoices>()("layers/WholeInvoices", {
  dependencies: [Billables.Default, Invoices.Default, Parties.Default, InvoiceImages.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const billables = yield* Billables
    const invoices = yield* Invoices
    const parties = yield* Parties
    const images = yield* InvoiceImages

    return {
      /** What is shown of an invoice on paper beside its images, which are read when that is done. */
      get: (id: string) =>
        Effect.gen(function* () {
          const invoice = yield* invoices.get(id)
          const lines = yield* billables.all({ invoice: id })
          const frozen = yield* invoices.frozenParties(id)
          const sides =
            frozen === undefined ? yield* parties.of(invoice.contract) : yield* Effect.orDie(decodeParties(frozen))
          return { invoice, lines: lines.map(({ value }) => value), parties: sides }
        }).pipe(consistently(sql)),

      images: ({ contract, id, invoiceNumber }: Invoice) => images.of(id, contract, invoiceNumber !== undefined)
    }
  })
}) {}

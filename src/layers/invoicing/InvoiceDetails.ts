import * as SqlClient from "@effect/sql/SqlClient"
import { Effect, Schema } from "effect"
import type { Invoice } from "../../domain/invoicing/Invoice.ts"
import { Parties as PartiesSchema } from "../../domain/invoicing/Parties.ts"
import { inSnapshot } from "../postgres/connection/Transaction.ts"
import { Billables } from "./Billables.ts"
import { InvoiceImageStore } from "./InvoiceImageStore.ts"
import { InvoiceParties } from "./InvoiceParties.ts"
import { Invoices } from "./Invoices.ts"

const decodeParties = Schema.decodeUnknown(PartiesSchema)

/** Reads an invoice with its lines and parties in one snapshot. */
export class InvoiceDetails extends Effect.Service<InvoiceDetails>()("layers/InvoiceDetails", {
  dependencies: [Billables.Default, Invoices.Default, InvoiceParties.Default, InvoiceImageStore.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const billables = yield* Billables
    const invoices = yield* Invoices
    const parties = yield* InvoiceParties
    const images = yield* InvoiceImageStore

    return {
      /** Everything that the PDF shows except the images. The caller reads these after the snapshot ends. */
      get: (id: string) =>
        Effect.gen(function* () {
          const invoice = yield* invoices.get(id)
          const lines = yield* billables.listAll({ invoice: id })
          const frozen = yield* invoices.findFrozenParties(id)
          const shownParties =
            frozen === undefined
              ? yield* parties.loadByContract(invoice.contract)
              : yield* Effect.orDie(decodeParties(frozen))
          return { invoice, lines: lines.map(({ value }) => value), parties: shownParties }
        }).pipe(inSnapshot(sql)),

      loadImages: ({ contract, id, invoiceNumber }: Invoice) => images.load(id, contract, invoiceNumber !== undefined)
    }
  })
}) {}

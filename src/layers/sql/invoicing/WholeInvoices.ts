import * as SqlClient from "@effect/sql/SqlClient"
import { Effect, Schema } from "effect"
import { Parties as PartiesSchema } from "../../../domain/invoicing/Parties.ts"
import { consistently } from "../connection/Transaction.ts"
import { Billables } from "./Billables.ts"
import { Invoices } from "./Invoices.ts"
import { Parties } from "./Parties.ts"

const decodeParties = Schema.decodeUnknown(PartiesSchema)

/** An invoice with its lines and who is on either side, all as of one moment. */
export class WholeInvoices extends Effect.Service<WholeInvoices>()("layers/WholeInvoices", {
  dependencies: [Billables.Default, Invoices.Default, Parties.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const billables = yield* Billables
    const invoices = yield* Invoices
    const parties = yield* Parties

    return {
      get: (id: string) =>
        Effect.gen(function* () {
          const invoice = yield* invoices.get(id)
          const lines = yield* billables.all({ invoice: id })
          const frozen = yield* invoices.frozenParties(id)
          const sides =
            frozen === undefined ? yield* parties.of(invoice.contract) : yield* Effect.orDie(decodeParties(frozen))
          return { invoice, lines: lines.map(({ value }) => value), parties: sides }
        }).pipe(consistently(sql))
    }
  })
}) {}

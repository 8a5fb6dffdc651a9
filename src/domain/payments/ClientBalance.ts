import { Schema } from "effect"
import { ClientId } from "../contracting/Client.ts"
import { CurrencyCode } from "../money/Currency.ts"
import { ReportAmount } from "../reports/ReportAmount.ts"
import { field } from "../Schemas.ts"

export const ClientBalance = Schema.Struct({
  client: field(ClientId, "The client."),
  balances: field(
    Schema.Array(
      Schema.Struct({
        currencyCode: field(CurrencyCode, "Currency of the amounts.", "EUR"),
        openMinor: field(ReportAmount, "Sum of the balances of all finalized invoices, in minor units.", 21_206),
        overdueMinor: field(ReportAmount, "The part of it that is past its due date, in minor units.", 0),
        unusedMinor: field(
          ReportAmount,
          "What payments and credit notes have left that settles no invoice, in minor units.",
          0
        )
      }).annotations({ description: "The amounts in one currency." })
    ),
    "The amounts by currency. Empty for a client that owes nothing and has no payment or credit note left."
  )
}).annotations({ identifier: "ClientBalance", description: "What a client owes, and what it has paid in advance." })

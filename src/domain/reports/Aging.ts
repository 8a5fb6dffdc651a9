import { Schema } from "effect"
import { ClientId } from "../contracting/Client.ts"
import { addDays, LocalDate, startOfLocalDay } from "../locale/TimeZone.ts"
import { CurrencyCode } from "../money/Currency.ts"
import { field, text } from "../Schemas.ts"
import { ReportAmount } from "./ReportAmount.ts"

/** How long invoices are overdue, from the shortest time to the longest, with the days that each bucket begins at. */
export const agingBuckets = [
  { field: "notDueMinor", minDays: Number.NEGATIVE_INFINITY },
  { field: "days1To30Minor", minDays: 1 },
  { field: "days31To60Minor", minDays: 31 },
  { field: "days61To90Minor", minDays: 61 },
  { field: "over90Minor", minDays: 91 }
] as const

export type AgingBucket = (typeof agingBuckets)[number]["field"]

/**
 * The moments that separate the buckets, from the latest to the earliest: an invoice that was due before a moment is in
 * the bucket of that moment or in a later one. Days count from midnight to midnight, whatever time of day an invoice is due.
 */
export const overdueSince = (asOf: string, timeZone: string) =>
  agingBuckets.slice(1).map(({ field, minDays }) => ({
    bucket: field,
    dueBefore: startOfLocalDay(addDays(asOf, 1 - minDays), timeZone)
  }))

const amounts = {
  asOf: field(LocalDate, "The day at whose end the amounts were open.", "2026-11-30"),
  currencyCode: field(CurrencyCode, "Currency of the amounts.", "EUR"),
  notDueMinor: field(ReportAmount, "Open and not overdue, in minor units.", 21_206),
  days1To30Minor: field(ReportAmount, "Open and 1 to 30 days overdue, in minor units.", 0),
  days31To60Minor: field(ReportAmount, "Open and 31 to 60 days overdue, in minor units.", 0),
  days61To90Minor: field(ReportAmount, "Open and 61 to 90 days overdue, in minor units.", 0),
  over90Minor: field(ReportAmount, "Open and more than 90 days overdue, in minor units.", 0),
  openMinor: field(ReportAmount, "Sum of the five amounts, in minor units.", 21_206),
  unusedMinor: field(ReportAmount, "What clients had paid or were credited and no invoice had used, in minor units.", 0)
} satisfies Record<AgingBucket, unknown> & Record<string, unknown>

export const AgingTotal = Schema.Struct(amounts).annotations({
  identifier: "AgingTotal",
  description: "What all clients together owed in a currency at the end of a day, by how long it was overdue."
})
export type AgingTotal = typeof AgingTotal.Type

export const ClientAging = Schema.Struct({
  client: field(ClientId, "The client."),
  clientName: field(text(1, 200), "Name of the client.", "Northwind"),
  ...amounts
}).annotations({
  identifier: "ClientAging",
  description: "What a client owed in a currency at the end of a day, by how long it was overdue."
})
export type ClientAging = typeof ClientAging.Type

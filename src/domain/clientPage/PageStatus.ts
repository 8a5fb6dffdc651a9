import { balanceOf, type Invoice, type SettledSums } from "../invoicing/Invoice.ts"
import { localDateOf } from "../locale/TimeZone.ts"

/** What the page says in large letters. SETTLED: nothing is open, but neither was it paid nor credited. */
export const pageStatuses = ["OPEN", "OVERDUE", "PARTIALLY_PAID", "PAID", "CREDITED", "SETTLED", "VOID"] as const
export type PageStatus = (typeof pageStatuses)[number]

interface PageAmounts extends SettledSums, Pick<Invoice, "status" | "totalMinor" | "dueAt"> {
  /** The sum of the finalized credit notes on the invoice, also of what they do not settle because it was paid before. */
  readonly creditNotesMinor: number
}

/** An invoice is due until the end of the day, in the time zone of the tenant. */
const isOverdue = (dueAt: string | undefined, now: string, timeZone: string) =>
  dueAt !== undefined && localDateOf(dueAt, timeZone) < localDateOf(now, timeZone)

const settledStatusOf = ({ creditedMinor, creditNotesMinor, paidMinor, totalMinor }: PageAmounts): PageStatus => {
  if (totalMinor > 0 && creditNotesMinor >= totalMinor) return "CREDITED"
  return totalMinor === 0 || paidMinor + creditedMinor > 0 ? "PAID" : "SETTLED"
}

/** The status of an issued invoice for its client. */
export const pageStatusOf = (invoice: PageAmounts, now: string, timeZone: string): PageStatus => {
  if (invoice.status === "VOID") return "VOID"
  if (balanceOf(invoice) === 0) return settledStatusOf(invoice)
  if (isOverdue(invoice.dueAt, now, timeZone)) return "OVERDUE"
  return invoice.paidMinor > 0 ? "PARTIALLY_PAID" : "OPEN"
}

/** Whether the page invites to pay. */
export const isPayable = (status: PageStatus) =>
  status === "OPEN" || status === "OVERDUE" || status === "PARTIALLY_PAID"

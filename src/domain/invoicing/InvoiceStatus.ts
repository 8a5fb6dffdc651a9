import { Effect } from "effect"
import { breaks } from "../Errors.ts"
import { oneOf } from "../Schemas.ts"
import type { Role } from "../tenancy/Roles.ts"

export const InvoiceStatus = oneOf("DRAFT", "FINALIZED", "PAID", "VOID")
export type InvoiceStatus = typeof InvoiceStatus.Type

interface Move {
  readonly from: ReadonlyArray<InvoiceStatus>
  readonly to: InvoiceStatus
  /** Who may make it. */
  readonly role: Role
  /** What the event about it is called. */
  readonly event: string
}

/** How an invoice goes from one status to another. What is not here cannot happen. */
export const invoiceMoves = {
  finalize: { from: ["DRAFT"], to: "FINALIZED", role: "ADMIN", event: "finalized" },
  pay: { from: ["FINALIZED"], to: "PAID", role: "ADMIN", event: "paid" },
  void: { from: ["DRAFT", "FINALIZED"], to: "VOID", role: "ADMIN", event: "voided" }
} as const satisfies Readonly<Record<string, Move>>

export type InvoiceMove = keyof typeof invoiceMoves

const refused = (status: InvoiceStatus, rule: string) => Effect.fail(breaks("status", "state", `is ${status}; ${rule}`))

/** Fails unless an invoice can make the move from where it is. */
export const mayMove = (status: InvoiceStatus, name: InvoiceMove) => {
  const { event, from }: Move = invoiceMoves[name]
  return from.includes(status) ? Effect.void : refused(status, `only ${from.join(" or ")} can be ${event}`)
}

/** Fails unless an invoice and its lines can be edited and deleted. */
export const mayEdit = (status: InvoiceStatus) =>
  status === "DRAFT" ? Effect.void : refused(status, "only a DRAFT and its lines can be changed or deleted")

import { Either } from "effect"
import { fieldError, type ValidationError } from "../Errors.ts"
import { field, oneOf } from "../Schemas.ts"
import type { Role } from "../tenancy/Roles.ts"

export const InvoiceStatus = field(
  oneOf("DRAFT", "FINALIZED", "PAID", "VOID"),
  "DRAFT: its lines can change. FINALIZED: numbered and frozen. PAID: its balance is 0. VOID: cancelled for good.",
  "FINALIZED"
)
export type InvoiceStatus = typeof InvoiceStatus.Type

interface Transition {
  readonly from: ReadonlyArray<InvoiceStatus>
  readonly to: InvoiceStatus
  /** The required role. */
  readonly role: Role
  /** The action in the type of its event: `invoice.<event>`. */
  readonly event: string
}

/** The state machine of an invoice: all allowed transitions. */
export const invoiceTransitions = {
  finalize: { from: ["DRAFT"], to: "FINALIZED", role: "ADMIN", event: "finalized" },
  pay: { from: ["FINALIZED"], to: "PAID", role: "ADMIN", event: "paid" },
  void: { from: ["DRAFT", "FINALIZED"], to: "VOID", role: "ADMIN", event: "voided" }
} as const satisfies Readonly<Record<string, Transition>>

export type InvoiceTransition = keyof typeof invoiceTransitions

const failWithStatus = (status: InvoiceStatus, rule: string) =>
  Either.left(fieldError("status", "state", `is ${status}; ${rule}`))

/** Fails unless the transition is allowed from the current status. */
export const requireInvoiceTransition = (
  status: InvoiceStatus,
  name: InvoiceTransition
): Either.Either<void, ValidationError> => {
  const { event, from }: Transition = invoiceTransitions[name]
  return from.includes(status)
    ? Either.void
    : failWithStatus(status, `only a ${from.join(" or ")} invoice can be ${event}`)
}

interface VoidableFields {
  readonly status: InvoiceStatus
  readonly totalMinor: number
  readonly balanceMinor: number
  /** Whether the client got it by mail, or may have got it. */
  readonly wasSent?: boolean
}

/** Fails for an invoice that cannot be voided: one of which something is settled takes a credit note instead. */
export const requireVoidable = ({
  balanceMinor,
  status,
  totalMinor,
  wasSent = false
}: VoidableFields): Either.Either<void, ValidationError> =>
  Either.flatMap(requireInvoiceTransition(status, "void"), () => {
    if (wasSent)
      return failWithStatus(status, "the invoice was sent and cannot be voided; create a credit note instead")
    return status === "DRAFT" || balanceMinor === totalMinor
      ? Either.void
      : Either.left(
          fieldError(
            "balanceMinor",
            "state",
            `is ${balanceMinor} of ${totalMinor}; an invoice that is settled in part cannot be voided`
          )
        )
  })

/** Fails unless the invoice and its lines can be changed or deleted. */
export const requireEditableInvoice = (status: InvoiceStatus): Either.Either<void, ValidationError> =>
  status === "DRAFT"
    ? Either.void
    : failWithStatus(status, "only a DRAFT invoice and its billables can be changed or deleted")

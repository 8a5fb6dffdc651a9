import { Either } from "effect"
import { type ErrorDetail, fieldError, requireNoErrors, type ValidationError } from "../Errors.ts"
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

const stateError = (field: string, message: string): ErrorDetail => ({ field, constraint: "state", message })

const transitionErrors = (status: InvoiceStatus, name: InvoiceTransition): ReadonlyArray<ErrorDetail> => {
  const { event, from }: Transition = invoiceTransitions[name]
  return from.includes(status)
    ? []
    : [stateError("status", `is ${status}; only a ${from.join(" or ")} invoice can be ${event}`)]
}

/** Fails unless the transition is allowed from the current status. */
export const requireInvoiceTransition = (
  status: InvoiceStatus,
  name: InvoiceTransition
): Either.Either<void, ValidationError> => requireNoErrors(transitionErrors(status, name))

interface VoidableFields {
  readonly status: InvoiceStatus
  readonly totalMinor: number
  readonly balanceMinor: number
}

/** Something that happened, or may have happened if it is not certain. */
interface Trace {
  readonly at: string
  readonly isCertain: boolean
}

/** What takes an issued invoice back already, and how its client got it: the first of each kind. */
export interface VoidObstacles {
  /** A finalized credit note. */
  readonly creditNote?: { readonly number: string; readonly at: string } | undefined
  readonly mail?: (Trace & { readonly recipient: string }) | undefined
  /** A file in Google Drive. */
  readonly upload?: Trace | undefined
  /** When the client's page was opened. */
  readonly viewedAt?: string | undefined
}

const describeObstacles = ({ creditNote, mail, upload, viewedAt }: VoidObstacles): ReadonlyArray<string> => {
  const wasOrMay = ({ isCertain }: Trace) => (isCertain ? "was" : "may have been")
  return [
    ...(creditNote ? [`credit note ${creditNote.number} of it was finalized at ${creditNote.at}`] : []),
    ...(mail ? [`it ${wasOrMay(mail)} sent to ${mail.recipient} at ${mail.at}`] : []),
    ...(upload ? [`its PDF ${wasOrMay(upload)} stored in Google Drive at ${upload.at}`] : []),
    ...(viewedAt ? [`its page was opened at ${viewedAt}`] : [])
  ]
}

const partlySettledErrors = ({ balanceMinor, status, totalMinor }: VoidableFields): ReadonlyArray<ErrorDetail> =>
  status !== "FINALIZED" || balanceMinor === totalMinor
    ? []
    : [
        stateError(
          "balanceMinor",
          `is ${balanceMinor} of ${totalMinor}; an invoice that is settled in part cannot be voided`
        )
      ]

/** Nothing more can be said of an invoice that is void already. */
const obstacleErrors = (status: InvoiceStatus, obstacles: VoidObstacles): ReadonlyArray<ErrorDetail> =>
  status === "VOID"
    ? []
    : describeObstacles(obstacles).map((text) =>
        stateError("status", `is ${status} and cannot become VOID: ${text}; create a credit note for what is left`)
      )

/**
 * Fails for an invoice that cannot be voided, with every reason. What a client has, or what is credited in part, takes a
 * credit note instead, so that nothing is taken back twice.
 */
export const requireVoidable = (
  invoice: VoidableFields,
  obstacles: VoidObstacles
): Either.Either<void, ValidationError> =>
  requireNoErrors([
    ...transitionErrors(invoice.status, "void"),
    ...partlySettledErrors(invoice),
    ...obstacleErrors(invoice.status, obstacles)
  ])

/** Fails unless the invoice and its lines can be changed or deleted. */
export const requireEditableInvoice = (status: InvoiceStatus): Either.Either<void, ValidationError> =>
  status === "DRAFT"
    ? Either.void
    : Either.left(
        fieldError("status", "state", `is ${status}; only a DRAFT invoice and its billables can be changed or deleted`)
      )

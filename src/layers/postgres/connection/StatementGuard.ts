import { errorCodeOf } from "./TransientErrors.ts"

/**
 * A statement that goes out before the first one of a request, in the same packet. If it fails, the server skips
 * everything up to the end of the packet, so that nothing of the request has happened.
 */
export interface StatementGuard {
  readonly text: string
  readonly values: ReadonlyArray<unknown>
  state: "pending" | "confirmed" | "rejected"
}

/** The SQLSTATE of a guard that rejects. No other statement raises it. */
const rejectedState = "CT403"

export const isGuardRejection = (error: unknown) => errorCodeOf(error) === rejectedState

/**
 * The guard that a statement must take along, if any. Work that ignores a failure and goes on is rejected again and again.
 */
export const unconfirmed = (guard: StatementGuard | undefined) => (guard?.state === "confirmed" ? undefined : guard)

import type { StatementGuard } from "../../concurrency/RequestShare.ts"
import { errorCodeOf } from "./TransientErrors.ts"

/** The SQLSTATE of a guard that rejects. No other statement raises it. */
const rejectedState = "CT403"

export const isGuardRejection = (error: unknown) => errorCodeOf(error) === rejectedState

/**
 * The guard that a statement must take along, if any. Work that ignores a failure and goes on is rejected again and again.
 */
export const unconfirmed = (guard: StatementGuard | undefined) => (guard?.state === "confirmed" ? undefined : guard)

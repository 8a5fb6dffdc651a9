import { errorCodeOf } from "./TransientErrors.ts"

/** The SQLSTATE of a guard that rejects. No other statement raises it. */
const rejectedState = "CT403"

export const isGuardRejection = (error: unknown) => errorCodeOf(error) === rejectedState

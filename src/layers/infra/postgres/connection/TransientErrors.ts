import { SqlError } from "@effect/sql/SqlError"

/** The database is unreachable, starting, full or timed out: a retry may succeed. */
const transientStates = new Set([
  "57P01", // terminated by an administrator
  "57P02", // crashed
  "57P03", // starting up
  "57P05", // idle session ended
  "57014", // statement timeout
  "53300", // too many connections
  "55P03", // lock timeout
  "40001", // serialization failure
  "40P01", // deadlock
  "25P03", // idle in transaction
  "25006" // a standby, or a primary that became one
])
const networkErrorCodes = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ENETUNREACH",
  "EHOSTUNREACH"
])
/** All connections of the pool were in use for too long. */
export const noConnectionInTime = "No connection was free in time"

const transientMessages = [
  noConnectionInTime,
  "Query read timeout",
  "timeout expired",
  "timeout exceeded when trying to connect",
  "Connection terminated",
  "Client has encountered a connection error",
  "Client was closed and is not queryable"
]

export const errorCodeOf = (cause: unknown) =>
  typeof cause === "object" && cause !== null && "code" in cause && typeof cause.code === "string" ? cause.code : ""

/** A migration has changed the result type of a prepared statement; it has to be prepared again. */
export const isStalePlan = (cause: unknown) =>
  errorCodeOf(cause) === "0A000" && cause instanceof Error && cause.message.includes("cached plan")

/**
 * Whether the connection is unusable after this error of the driver. An SQLSTATE proves that the connection works, except
 * for those after which the server closes it. A connection to a read-only server counts as unusable: a new one may reach
 * the primary.
 */
export const isConnectionFatal = (cause: unknown) => {
  const code = errorCodeOf(cause)
  return (
    // EPIPE looks like an SQLSTATE.
    isUnreachable(cause) ||
    !/^[0-9A-Z]{5}$/.test(code) ||
    code.startsWith("57P") ||
    code.startsWith("08") ||
    code === "25P03" ||
    code === "25006"
  )
}

/** A network error: the host cannot be reached, or the connection was reset. */
export const isUnreachable = (cause: unknown): boolean =>
  networkErrorCodes.has(errorCodeOf(cause)) || (cause instanceof AggregateError && cause.errors.some(isUnreachable))

const isTransientCause = (cause: unknown): boolean => {
  const code = errorCodeOf(cause)
  return (
    transientStates.has(code) ||
    code.startsWith("08") ||
    isUnreachable(cause) ||
    isStalePlan(cause) ||
    (cause instanceof AggregateError && cause.errors.some(isTransientCause)) ||
    (cause instanceof Error && transientMessages.some((message) => cause.message.includes(message)))
  )
}

export const isTransient = (error: unknown): boolean => error instanceof SqlError && isTransientCause(error.cause)

export const isWithoutConnection = (error: unknown): boolean =>
  error instanceof SqlError && error.cause instanceof Error && error.cause.message === noConnectionInTime

/** Any other statement would fail as well at the moment. */
export const isConnectionBroken = (error: unknown): boolean =>
  error instanceof SqlError && isConnectionFatal(error.cause)

const hasCode = (code: string) => (error: unknown) => error instanceof SqlError && errorCodeOf(error.cause) === code

/** Another transaction kept a lock for too long. A smaller batch would have to wait for the same lock. */
export const isLockTimeout = hasCode("55P03")

export const isReadOnly = hasCode("25006")

export const isDeadlock = hasCode("40P01")

/** The statement was too large. A smaller batch may succeed. */
export const isStatementTimeout = hasCode("57014")

import { SqlError } from "@effect/sql/SqlError"

/** The database is away, starting, full, or gave up waiting: the same request may succeed a moment later. */
const passingStates = new Set([
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
const passingErrors = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ENETUNREACH",
  "EHOSTUNREACH"
])
const passingMessages = [
  "Query read timeout",
  "timeout expired",
  "timeout exceeded when trying to connect",
  "Connection terminated",
  "Client has encountered a connection error",
  "Client was closed and is not queryable"
]

export const codeOf = (cause: unknown) =>
  typeof cause === "object" && cause !== null && "code" in cause && typeof cause.code === "string" ? cause.code : ""

/** The rows of a prepared statement have other types since a migration, until it is prepared anew. */
export const isStalePlan = (cause: unknown) =>
  codeOf(cause) === "0A000" && cause instanceof Error && cause.message.includes("cached plan")

/**
 * An error with a code of the server's own came over a connection that works, unless the server then ends it. One to a
 * read-only server works and is of no use: another may lead to the primary.
 */
export const isLost = (cause: unknown) => {
  const code = codeOf(cause)
  return (
    !/^[0-9A-Z]{5}$/.test(code) ||
    code.startsWith("57P") ||
    code.startsWith("08") ||
    code === "25P03" ||
    code === "25006" ||
    isStalePlan(cause)
  )
}

/** Whoever was asked could not be reached, or the connection was lost. */
export const isUnreachable = (cause: unknown): boolean =>
  passingErrors.has(codeOf(cause)) || (cause instanceof AggregateError && cause.errors.some(isUnreachable))

const isPassing = (cause: unknown): boolean => {
  const code = codeOf(cause)
  return (
    passingStates.has(code) ||
    code.startsWith("08") ||
    isUnreachable(cause) ||
    isStalePlan(cause) ||
    (cause instanceof AggregateError && cause.errors.some(isPassing)) ||
    (cause instanceof Error && passingMessages.some((message) => cause.message.includes(message)))
  )
}

export const isOutage = (error: unknown): boolean => error instanceof SqlError && isPassing(error.cause)

/** Nothing can be asked of the database at the moment, whatever it is. */
export const isConnectionBroken = (error: unknown): boolean => error instanceof SqlError && isLost(error.cause)

const hasCode = (code: string) => (error: unknown) => error instanceof SqlError && codeOf(error.cause) === code

/** Somebody else held a lock for too long: asking for less of the same would have to wait as long. */
export const isLockTimeout = hasCode("55P03")

export const isReadOnly = hasCode("25006")

export const isDeadlock = hasCode("40P01")

/** It was too much for one statement; less of it may not be. */
export const isStatementTimeout = hasCode("57014")

import { Data } from "effect"
import { describeNetworkError } from "../webhook/NetworkErrors.ts"

/** The steps of a session, in their order. */
export type SmtpStage = "CONNECT" | "EHLO" | "STARTTLS" | "AUTH" | "MAIL" | "RCPT" | "DATA"

/**
 * SENT: the server accepted the message. REFUSED: it never will. RETRY: it may accept the message later, and has not got
 * all of it. UNCERTAIN: it has got the message, and its answer is not known.
 */
export type SmtpResult =
  | { readonly outcome: "SENT"; readonly status: number; readonly response: string }
  | {
      readonly outcome: "REFUSED" | "RETRY"
      readonly stage: SmtpStage
      readonly reason: string
      readonly status?: number | undefined
      readonly response?: string | undefined
    }
  | { readonly outcome: "UNCERTAIN"; readonly reason: string }

/** A step of the session failed. */
export class SmtpFailure extends Data.TaggedError("SmtpFailure")<{
  readonly stage: SmtpStage
  readonly cause: unknown
}> {}

const textOf = (cause: unknown, key: string) => {
  if (!(cause instanceof Error) || !(key in cause)) return undefined
  const value: unknown = Reflect.get(cause, key)
  return typeof value === "string" && value !== "" ? value : undefined
}

const commandStages: ReadonlyArray<readonly [command: string, stage: SmtpStage]> = [
  ["EHLO", "EHLO"],
  ["HELO", "EHLO"],
  ["STARTTLS", "STARTTLS"],
  ["AUTH", "AUTH"],
  ["MAIL FROM", "MAIL"],
  ["RCPT TO", "RCPT"],
  ["DATA", "DATA"]
]

/** The stage that the library names in its error, or else the step that failed. */
const stageOf = ({ cause, stage }: SmtpFailure) => {
  const command = textOf(cause, "command") ?? ""
  return commandStages.find(([name]) => command.startsWith(name))?.[1] ?? stage
}

/** Codes of errors that the library finds before it sends anything, and that stay as they are. */
const permanentCodes = ["EMESSAGE", "EENVELOPE", "EAUTH"]

const outcomeOf = (status: number, code: string, isComplete: boolean) => {
  if (status >= 500 && status < 600) return "REFUSED"
  if (status >= 400 && status < 500) return "RETRY"
  if (isComplete) return "UNCERTAIN"
  return status === 0 && permanentCodes.includes(code) ? "REFUSED" : "RETRY"
}

/** The library keeps the code of the system beside its own. */
const networkErrorOf = (cause: unknown) => {
  const code = textOf(cause, "originalCode")
  return code === undefined ? cause : Object.assign(new Error(), { code })
}

const maxReasonLength = 500

const reasonOf = (cause: unknown, response: string | undefined, host: string) => {
  if (response !== undefined) return `${host} answered ${response}`.slice(0, maxReasonLength)
  const code = textOf(cause, "code") ?? ""
  if (permanentCodes.includes(code) && cause instanceof Error) return cause.message.slice(0, maxReasonLength)
  if (code === "ETIMEDOUT") return `${host} did not answer in time`
  if (code === "ECONNECTION" && textOf(cause, "originalCode") === undefined) return `${host} closed the connection`
  return describeNetworkError(networkErrorOf(cause), host)
}

/** Classifies a failure. `isComplete` tells that the server may have got the whole message. */
export const toFailedResult = (failure: SmtpFailure, host: string, isComplete: boolean): SmtpResult => {
  const { cause } = failure
  const response = textOf(cause, "response")
  const status = Number(/^\d{3}/.exec(response ?? "")?.[0] ?? 0)
  const reason = reasonOf(cause, response, host)
  const outcome = outcomeOf(status, textOf(cause, "code") ?? "", isComplete)
  if (outcome === "UNCERTAIN") return { outcome, reason }
  return { outcome, stage: stageOf(failure), reason, ...(response === undefined ? {} : { status, response }) }
}

export const toTimeoutResult = (host: string, seconds: number, isComplete: boolean): SmtpResult => {
  const reason = `${host} did not answer within ${seconds} s`
  return isComplete ? { outcome: "UNCERTAIN", reason } : { outcome: "RETRY", stage: "CONNECT", reason }
}

const second = 1000
const minute = 60 * second
const hour = 60 * minute

/** Delay before each attempt of a round, in milliseconds after the previous attempt. */
export const retryDelaysMs: ReadonlyArray<number> = [
  0,
  5 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour
]

/** Each delay varies randomly by up to this fraction, so that deliveries that failed together do not retry together. */
export const jitter = 0.2

/** Upper bound of a receiver's Retry-After, in milliseconds. */
export const maxRetryAfterMs = 24 * hour

const httpDateFormats: ReadonlyArray<readonly [form: RegExp, zone: string]> = [
  [/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/, ""],
  [/^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/, ""],
  [/^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/, " GMT"]
]

const parseHttpDate = (text: string) => {
  const zone = httpDateFormats.find(([form]) => form.test(text))?.[1]
  const read = zone === undefined ? Number.NaN : Date.parse(text + zone)
  return Number.isNaN(read) ? undefined : read
}

/** Parses a Retry-After header, seconds or an HTTP date, to epoch milliseconds. An invalid header is undefined. */
export const parseRetryAfter = (header: string | undefined, now: number): number | undefined => {
  // Stryker disable next-line StringLiteral: any text that is no valid header does
  const text = header?.trim() ?? ""
  const moment = /^\d+$/.test(text) ? now + Number(text) * second : parseHttpDate(text)
  return moment === undefined ? undefined : Math.min(moment, now + maxRetryAfterMs)
}

interface FailedAttempt {
  /** Number of attempts since the round began. */
  readonly attemptsInRound: number
  readonly now: number
  /** A random number from 0 to 1. */
  readonly random: number
  /** Earliest time of the next attempt that the receiver accepts. */
  readonly retryAfter?: number | undefined
}

/** Time of the next attempt, or undefined after the last attempt of the round. */
export const computeNextAttempt = ({
  attemptsInRound,
  now,
  random,
  retryAfter = now
}: FailedAttempt): number | undefined => {
  const delay = retryDelaysMs[attemptsInRound]
  if (delay === undefined) return undefined
  const scheduled = now + Math.round(delay * (1 - jitter + 2 * jitter * random))
  return Math.max(scheduled, Math.min(retryAfter, now + maxRetryAfterMs))
}

const second = 1000
const minute = 60 * second
const hour = 60 * minute

/** How long after the one before each attempt of a round is made. */
export const delays: ReadonlyArray<number> = [
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

/** The share of a delay by which it may come out shorter or longer, so that those who failed together part. */
export const jitter = 0.2

/** The longest a receiver can put us off. */
export const longestRetryAfter = 24 * hour

const httpDates: ReadonlyArray<readonly [form: RegExp, zone: string]> = [
  [/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/, ""],
  [/^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/, ""],
  [/^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/, " GMT"]
]

const httpDate = (text: string) => {
  const zone = httpDates.find(([form]) => form.test(text))?.[1]
  const read = zone === undefined ? Number.NaN : Date.parse(text + zone)
  return Number.isNaN(read) ? undefined : read
}

/** The moment a Retry-After header names, in seconds from now or as a date; nothing when it names none. */
export const retryAfterOf = (header: string | undefined, now: number): number | undefined => {
  const text = header?.trim() ?? ""
  const moment = /^\d+$/.test(text) ? now + Number(text) * second : httpDate(text)
  return moment === undefined ? undefined : Math.min(moment, now + longestRetryAfter)
}

interface Failed {
  /** How often it was tried since the round began. */
  readonly attemptsInRound: number
  readonly now: number
  /** Any number from 0 to 1. */
  readonly random: number
  /** The moment before which the receiver wants no more. */
  readonly retryAfter?: number | undefined
}

/** When to try again, or nothing once every attempt of the round is spent. */
export const nextAttempt = ({ attemptsInRound, now, random, retryAfter = now }: Failed): number | undefined => {
  const delay = delays[attemptsInRound]
  if (delay === undefined) return undefined
  const usual = now + Math.round(delay * (1 - jitter + 2 * jitter * random))
  return Math.max(usual, Math.min(retryAfter, now + longestRetryAfter))
}

const retriedStatuses = new Set([429, 503])

/** Seconds of a `Retry-After` header, which holds seconds or a date. */
export const retryAfterSecondsOf = (response: Response): number | undefined => {
  const value = response.headers.get("retry-after")
  if (value === null) return undefined
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds)
}

/** Grows from half a second, with jitter, so that many callers do not come back at the same moment. */
const backoffSeconds = (retry: number) => 0.5 * 2 ** retry * (0.75 + Math.random() / 2)

export interface RetryLimits {
  readonly maxRetries: number
  readonly maxRetryDelaySeconds: number
}

/** Seconds until the next attempt; undefined when there is to be none. `response` is undefined for a lost connection. */
export const nextAttemptIn = (response: Response | undefined, retry: number, limits: RetryLimits) => {
  if (retry >= limits.maxRetries) return undefined
  if (response === undefined) return Math.min(backoffSeconds(retry), limits.maxRetryDelaySeconds)
  if (!retriedStatuses.has(response.status)) return undefined
  const asked = retryAfterSecondsOf(response)
  if (asked === undefined) return Math.min(backoffSeconds(retry), limits.maxRetryDelaySeconds)
  // Earlier than asked would only be rejected again, so a longer wait than the limit ends the call.
  return asked <= limits.maxRetryDelaySeconds ? asked : undefined
}

/** Waits; an abort ends the wait with the reason of the signal. */
export const wait = (seconds: number, signal: AbortSignal | undefined) =>
  new Promise<void>((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort)
      resolve()
    }, seconds * 1000)
    if (signal?.aborted) abort()
    else signal?.addEventListener("abort", abort, { once: true })
  })

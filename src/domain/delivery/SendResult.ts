/** The result of one delivery attempt. */
export interface SendResult {
  readonly delivered: boolean
  readonly latencyMs: number
  /** Status of the response, in HTTP or SMTP. Undefined for NATS, and when the receiver sent no response. */
  readonly status?: number | undefined
  readonly body?: string | undefined
  /** Why the attempt failed. API users read it. */
  readonly error?: string | undefined
  /** The `Retry-After` header of the response, unparsed. */
  readonly retryAfter?: string | undefined
  /** The receiver refuses this delivery for good, so there is no next attempt. */
  readonly isFinal?: boolean | undefined
  /** The receiver may have got it. It is not sent again, because the receiver cannot recognize it. */
  readonly isUncertain?: boolean | undefined
  /** Why retries are useless until a user acts. The integration moves to ERROR with this reason. */
  readonly stop?: string | undefined
}

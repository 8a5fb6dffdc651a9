/** What came of handing an event to a receiver once. */
export interface Sent {
  readonly delivered: boolean
  readonly latencyMs: number
  /** What the receiver answered, where it answers. */
  readonly status?: number | undefined
  readonly body?: string | undefined
  /** Why it was not delivered, for a person. */
  readonly error?: string | undefined
  /** When the receiver wants to be asked again, as it said so. */
  readonly retryAfter?: string | undefined
  /** Nothing more can be delivered until a person has done something about this. */
  readonly stop?: string | undefined
}

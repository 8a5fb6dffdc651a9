/** A command to the load generator, which returns a `LoadResult`. */
export interface Load {
  readonly port: number
  /** Complete HTTP requests, sent in turn. */
  readonly requests: ReadonlyArray<string>
  readonly connections: number
  readonly seconds: number
  /** A constant rate (open loop). Without it, every connection sends again after each response (closed loop). */
  readonly perSecond?: number
}

export interface LoadResult {
  readonly sentPerSecond: number
  /** Requests that were due while every connection waited for a response. */
  readonly unsentPerSecond: number
  readonly acceptedPerSecond: number
  /** Responses with 429 or 503. */
  readonly rejectedPerSecond: number
  /** All other responses, and broken connections. */
  readonly failures: number
  readonly acceptedP50: number
  readonly acceptedP99: number
  /** CPU time of the generator, as a share of one core. */
  readonly generatorCpuShare: number
}

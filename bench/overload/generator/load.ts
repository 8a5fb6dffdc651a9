/** What the process of the load generator is told to send. It answers with a `LoadResult` when it has. */
export interface Load {
  readonly port: number
  /** Whole requests as they go over the wire, sent in turn. */
  readonly requests: ReadonlyArray<string>
  readonly connections: number
  readonly seconds: number
  /** So many a second whatever becomes of them; without it, as fast as they are answered. */
  readonly perSecond?: number
}

export interface LoadResult {
  readonly sentPerSecond: number
  /** Requests that were due while every connection was still waiting for an answer. */
  readonly unsentPerSecond: number
  readonly acceptedPerSecond: number
  /** Answers of 429 and 503. */
  readonly rejectedPerSecond: number
  /** Every other answer, and connections that broke. */
  readonly failures: number
  readonly acceptedP50: number
  readonly acceptedP99: number
  /** What the generator itself computed, in parts of a core. */
  readonly generatorCpuShare: number
}

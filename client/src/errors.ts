/** One field that a request got wrong. */
export interface ErrorDetail {
  readonly field: string
  readonly message: string
  /** The violated rule as a machine word, such as `required` or `max`. */
  readonly constraint: string
}

export interface FailedResponse {
  readonly method: string
  readonly url: string
  readonly status: number
  readonly message: string
  readonly details: ReadonlyArray<ErrorDetail>
  readonly requestId: string | undefined
  readonly retryAfterSeconds: number | undefined
}

const describe = ({ details, message, method, status, url }: FailedResponse) => {
  const fields = details.map(({ field, message }) => `${field} ${message}`).join("; ")
  return `${method} ${new URL(url).pathname} answered ${status}: ${message}${fields === "" ? "" : ` (${fields})`}`
}

/** The service rejected a request. Each error of the API is a subclass; this one stands for any other response. */
export class ApiError extends Error {
  /** The `error` of the response's body. */
  readonly code: string = "Unknown"
  readonly status: number
  /** The fields that a 400 names; empty for every other error. */
  readonly details: ReadonlyArray<ErrorDetail>
  /** Names the request in the log of the service. */
  readonly requestId: string | undefined
  /** What the service asked to wait before the next attempt. */
  readonly retryAfterSeconds: number | undefined

  constructor(failed: FailedResponse) {
    super(describe(failed))
    this.name = new.target.name
    this.status = failed.status
    this.details = failed.details
    this.requestId = failed.requestId
    this.retryAfterSeconds = failed.retryAfterSeconds
  }
}

/** No response arrived: the service is away, or the connection broke. `cause` has the reason. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError"

  constructor(method: string, url: string, cause: unknown) {
    super(`${method} ${url} got no response`, { cause })
  }
}

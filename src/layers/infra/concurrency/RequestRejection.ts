import { type ServiceUnavailable, TooManyRequests, Unavailable } from "../../../domain/Errors.ts"
import type { PermitRejection } from "./KeyQueue.ts"

const tooManyRequests = new TooManyRequests()

/**
 * Makes the response to a request without a permit of a queue: 429 when the queue of one of its own keys is full, 503
 * otherwise, which the log explains with the name of the queue.
 */
export const makeToRequestError = (queue: string) => {
  const unavailable = Unavailable.because(`a request waited for too long, or the queue is full: ${queue}`)
  return (rejection: PermitRejection): TooManyRequests | ServiceUnavailable =>
    rejection._tag === "QueueFull" && rejection.scope === "key" ? tooManyRequests : unavailable
}

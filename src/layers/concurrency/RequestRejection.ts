import { ServiceUnavailable, TooManyRequests } from "../../domain/Errors.ts"
import type { PermitRejection } from "./FairQueues.ts"

const tooManyRequests = new TooManyRequests()
const serviceUnavailable = new ServiceUnavailable()

/** The response to a request without a permit: 429 when the queue of one of its own keys is full, 503 otherwise. */
export const toRequestError = (rejection: PermitRejection) =>
  rejection._tag === "QueueFull" && rejection.scope === "key" ? tooManyRequests : serviceUnavailable

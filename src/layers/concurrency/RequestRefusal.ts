import { ServiceUnavailable, TooManyRequests } from "../../domain/Errors.ts"
import type { Refused } from "./FairSemaphore.ts"

/** What a caller is answered whose work got no permit: a full queue of one's own is 429, everything else 503. */
export const toRequestError = (refused: Refused) =>
  refused._tag === "QueueFull" && refused.scope === "key" ? new TooManyRequests() : new ServiceUnavailable()

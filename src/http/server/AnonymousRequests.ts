import type { IncomingMessage } from "node:http"
import { Effect } from "effect"
import type { ApiError } from "../../domain/Errors.ts"
import { addressKey } from "./request/ClientAddress.ts"
import type { RequestState } from "./request/RequestState.ts"
import type { HttpResponse } from "./response/HttpResponse.ts"
import type { ResponseLimits } from "./response/ResponseLimits.ts"

/** A public route outside of the API, such as health or documentation. */
export interface PlainRoute {
  /** Default: GET, and HEAD with it. */
  readonly method?: "POST"
  readonly path: `/${string}`
  readonly respond: (request: IncomingMessage) => Effect.Effect<HttpResponse, ApiError>
}

/** A public GET route with parameters in its path, whose requests are limited by address and traced. */
export interface PageRoute {
  readonly path: `/${string}`
  /** The path in logs, traces and metrics, without the values of its parameters: they can be secrets. */
  readonly name: string
  readonly respond: (call: RequestState) => Effect.Effect<HttpResponse, ApiError>
  /** The page of an error, for a browser. */
  readonly toErrorResponse: (error: ApiError) => HttpResponse
}

/** Larger responses count as unread. Health checks are never rejected. */
const maxUncountedBytes = 16 * 1024

const isSmall = ({ body }: HttpResponse) =>
  body === undefined ||
  (typeof body === "string" || body instanceof Uint8Array ? body.length <= maxUncountedBytes : false)

/** Runs requests whose senders nobody knows, unless their address has too many unread bytes. */
export const makeAnonymousRunner = (
  clientAddress: (request: IncomingMessage) => string,
  { checkUnread }: ResponseLimits
) => {
  const addKeys = (call: RequestState) => {
    call.share.keys = [addressKey(clientAddress(call.request))]
  }
  const requireRead = <A>(call: RequestState, work: Effect.Effect<A, ApiError>) =>
    Effect.suspend(() => {
      const rejection = checkUnread(call.share.keys)
      return rejection === undefined ? work : Effect.fail(rejection)
    })
  return {
    runPage: ({ respond }: PageRoute, call: RequestState) => {
      addKeys(call)
      return requireRead(call, respond(call))
    },

    runPlain: ({ respond }: PlainRoute, call: RequestState) => {
      addKeys(call)
      return Effect.flatMap(respond(call.request), (response) =>
        isSmall(response) ? Effect.succeed(response) : requireRead(call, Effect.succeed(response))
      )
    }
  }
}

export type AnonymousRunner = ReturnType<typeof makeAnonymousRunner>

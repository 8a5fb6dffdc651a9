import type { IncomingMessage } from "node:http"
import { Headers, HttpTraceContext } from "@effect/platform"
import { Effect, Option } from "effect"

const parentSpanOf = ({ headers }: IncomingMessage) =>
  Option.getOrUndefined(HttpTraceContext.fromHeaders(Headers.fromInput({ ...headers })))

/** Wraps a request in a span that continues the client's trace. */
export const withRequestSpan =
  (request: IncomingMessage, name: string) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) => {
    const parent = parentSpanOf(request)
    return Effect.withSpan(effect, name, {
      kind: "server",
      captureStackTrace: false,
      attributes: { "http.request.method": request.method },
      ...(parent === undefined ? {} : { parent })
    })
  }

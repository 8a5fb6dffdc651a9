import type { IncomingMessage } from "node:http"
import { Headers, HttpTraceContext } from "@effect/platform"
import { Effect, Option } from "effect"

const parentOf = ({ headers }: IncomingMessage) =>
  Option.getOrUndefined(HttpTraceContext.fromHeaders(Headers.fromInput({ ...headers })))

/** A span for a request, continuing the caller's trace. Only used where an exporter takes it. */
export const traced =
  (request: IncomingMessage, name: string) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) => {
    const parent = parentOf(request)
    return Effect.withSpan(effect, name, {
      kind: "server",
      captureStackTrace: false,
      attributes: { "http.request.method": request.method },
      ...(parent === undefined ? {} : { parent })
    })
  }

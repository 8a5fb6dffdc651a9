import type { IncomingMessage } from "node:http"
import { Clock, Effect } from "effect"
import type { ApiError } from "../../domain/Errors.ts"
import { parseTraceParent } from "../../layers/infra/telemetry/TraceContext.ts"
import type { RouteTarget } from "./Router.ts"
import type { RequestState } from "./request/RequestState.ts"
import { attempt } from "./request/Steps.ts"
import type { HttpResponse } from "./response/HttpResponse.ts"

const traceParentOf = ({ headers }: IncomingMessage) => {
  const { traceparent } = headers
  return typeof traceparent === "string" ? parseTraceParent(traceparent) : undefined
}

/**
 * Runs the work of a request in a span that continues the client's trace, and its response in the same trace: the span
 * ends with the failure, but the log lines about the failure come later. Without an exporter, it passes the trace on.
 */
export const traceRequest = <A, E>(
  { name, run }: RouteTarget,
  call: RequestState,
  isExported: boolean,
  respond: (work: Effect.Effect<HttpResponse, ApiError>) => Effect.Effect<A, E>
): Effect.Effect<A, E> => {
  const parent = traceParentOf(call.request)
  if (!isExported) {
    const serving = respond(attempt(() => run(call)))
    return parent === undefined ? serving : Effect.withParentSpan(serving, parent)
  }
  const attributes = { "http.request.method": call.request.method }
  const options = { kind: "server", attributes, captureStackTrace: false, ...(parent && { parent }) } as const
  return Effect.flatMap(Effect.makeSpan(name, options), (span) => {
    const work = Effect.onExit(run(call), (exit) => Effect.map(Clock.currentTimeNanos, (now) => span.end(now, exit)))
    return Effect.withParentSpan(respond(work), span)
  }).pipe(Effect.withTracerEnabled(true))
}

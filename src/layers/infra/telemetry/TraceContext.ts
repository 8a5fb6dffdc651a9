import { Headers, HttpTraceContext } from "@effect/platform"
import { Context, Layer, Option, Tracer } from "effect"

/** Whether this process exports spans. Without an exporter nothing creates one. */
export class TraceExport extends Context.Reference<TraceExport>()("layers/TraceExport", {
  defaultValue: () => ({ isEnabled: false })
}) {}

/**
 * Spans exist only where the tracer is enabled again: a trace starts with a request, and workers continue it for the
 * events of the request. So polling loops, health checks and metrics create none.
 */
export const spansOnRequest = Layer.merge(
  Layer.setTracerEnabled(false),
  Layer.succeed(TraceExport, { isEnabled: true })
)

/** The header of W3C Trace Context that names a span as the parent of the receiver's span. */
export const formatTraceParent = ({ sampled, spanId, traceId }: Tracer.AnySpan) =>
  `00-${traceId}-${spanId}-${sampled ? "01" : "00"}`

/** Returns undefined for no header and for a malformed one. */
export const parseTraceParent = (header: string | null | undefined): Tracer.ExternalSpan | undefined =>
  header === null || header === undefined
    ? undefined
    : Option.getOrUndefined(HttpTraceContext.w3c(Headers.unsafeFromRecord({ traceparent: header })))

/** A span of a disabled tracer has no identifiers. */
export const hasTrace = ({ context }: Tracer.AnySpan) => !Context.get(context, Tracer.DisablePropagation)

/** The span of a context, also that of a client whose trace this process only passes on. */
export const traceParentIn = (context: Context.Context<never>) => {
  const span = Context.getOption(context, Tracer.ParentSpan)
  return Option.isSome(span) && hasTrace(span.value) ? formatTraceParent(span.value) : undefined
}

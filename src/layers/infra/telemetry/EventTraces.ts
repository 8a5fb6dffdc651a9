import { Effect, type Tracer } from "effect"
import { formatTraceParent, parseTraceParent, TraceExport } from "./TraceContext.ts"

/** Work on an event that a traced request has caused. */
interface Traced {
  readonly traceParent: string | null
}

interface SpanDescription<B> {
  readonly name: string
  readonly attributes: Record<string, unknown>
  readonly attributesOf: (result: B) => Record<string, unknown>
}

const describeResult =
  <B>(span: Tracer.Span, { attributesOf }: SpanDescription<B>) =>
  (result: B) => {
    for (const [key, value] of Object.entries(attributesOf(result))) if (value !== undefined) span.attribute(key, value)
    return result
  }

/** Continues the traces of events in a worker. Events without a trace, and all events without an exporter, get no span. */
export const makeEventTraces = Effect.map(TraceExport, ({ isEnabled }) => {
  const parentOf = ({ traceParent }: Traced) => (isEnabled ? parseTraceParent(traceParent) : undefined)

  const startSpan = <A extends Traced>(item: A, name: string, kind: Tracer.SpanKind) => {
    const parent = parentOf(item)
    if (parent === undefined) return Effect.succeed(item)
    return Effect.map(Effect.makeSpanScoped(name, { parent, kind, captureStackTrace: false }), (span) => ({
      ...item,
      traceParent: formatTraceParent(span)
    }))
  }

  return {
    /** Runs the work of one event in a span. The work gets this span as the parent of what it sends. */
    withSpan: <A extends Traced, B, E, R>(
      item: A,
      description: SpanDescription<B>,
      work: (item: A) => Effect.Effect<B, E, R>
    ) => {
      const parent = parentOf(item)
      if (parent === undefined) return work(item)
      const { attributes, name } = description
      return Effect.flatMap(Effect.orDie(Effect.currentSpan), (span) =>
        Effect.map(work({ ...item, traceParent: formatTraceParent(span) }), describeResult(span, description))
      ).pipe(
        Effect.withSpan(name, { parent, kind: "producer", attributes, captureStackTrace: false }),
        Effect.withTracerEnabled(true)
      )
    },

    /** Runs work that several events share, with a span for each of them. */
    withSpans: <A extends Traced, B, E, R>(
      items: ReadonlyArray<A>,
      name: string,
      kind: Tracer.SpanKind,
      work: (items: ReadonlyArray<A>) => Effect.Effect<B, E, R>
    ): Effect.Effect<B, E, R> => {
      if (!items.some((item) => parentOf(item) !== undefined)) return work(items)
      const spans = Effect.forEach(items, (item) => startSpan(item, name, kind))
      return Effect.scoped(Effect.flatMap(Effect.withTracerEnabled(spans, true), work))
    }
  }
})

import { Array, Cause, Context, FiberRef, FiberRefs, HashMap, Inspectable, Logger, Option, Tracer } from "effect"
import { build } from "./Build.ts"
import { hasTrace } from "./TraceContext.ts"

const toText = (part: unknown) => (part instanceof Error ? part.message : Inspectable.toStringUnknown(part, 0))

/** The trace of the request or the event that the line is about. */
const traceOf = (refs: FiberRefs.FiberRefs) => {
  const context = FiberRefs.getOrDefault(refs, FiberRef.currentContext)
  return Option.filter(Context.getOption(context, Tracer.ParentSpan), hasTrace)
}

/** One JSON object per line. docs/operations.md documents the fields. */
export const makeJsonLogger = (process: string) =>
  Logger.make(({ annotations, cause, context, date, logLevel, message }) =>
    Inspectable.stringifyCircular({
      timestamp: date.toISOString(),
      level: logLevel.label,
      message: Array.ensure(message).map(toText).join(": "),
      service: build.service,
      version: build.version,
      process,
      ...Option.match(traceOf(context), {
        onNone: () => ({}),
        onSome: ({ spanId, traceId }) => ({ traceId, spanId })
      }),
      ...Object.fromEntries(HashMap.entries(annotations)),
      ...(Cause.isEmpty(cause) ? {} : { cause: Cause.pretty(cause, { renderErrorCause: true }) })
    })
  )

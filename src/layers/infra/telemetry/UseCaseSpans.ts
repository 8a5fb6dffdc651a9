import { Effect, Either, Option } from "effect"
import { TraceExport } from "./TraceContext.ts"

/** Options and Eithers are effects too, but their callers inspect them. */
const isTraceable = (value: unknown): value is Effect.Effect<unknown> =>
  Effect.isEffect(value) && !Either.isEither(value) && !Option.isOption(value)

const traceMember = (name: string, member: unknown): unknown => {
  const trace = (result: unknown) =>
    isTraceable(result) ? Effect.withSpan(result, name, { captureStackTrace: false }) : result
  return typeof member === "function" ? (...args: ReadonlyArray<unknown>) => trace(member(...args)) : trace(member)
}

/**
 * Puts the effects of a service into spans that are named after the service and the method. Without an exporter, the
 * service stays as it is, so its spans cost nothing.
 */
export const withSpans =
  (name: string) =>
  <S extends object, E, R>(service: Effect.Effect<S, E, R>): Effect.Effect<S, E, R> =>
    Effect.zipWith(service, TraceExport, (service, { isEnabled }) => {
      if (!isEnabled) return service
      const traced = Object.entries(service).map(([key, member]) => [key, traceMember(`${name}.${key}`, member)])
      return Object.fromEntries(traced) as S // the same members with the same types
    })

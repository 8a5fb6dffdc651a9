import * as Otlp from "@effect/opentelemetry/Otlp"
import { FetchHttpClient } from "@effect/platform"
import { Effect, Layer, Logger, LogLevel, Redacted } from "effect"
import { Settings, type SettingsShape } from "../config/Settings.ts"
import { build } from "./Build.ts"
import { makeJsonLogger } from "./LogLine.ts"
import { spansOnRequest } from "./TraceContext.ts"

const levels = {
  debug: LogLevel.Debug,
  info: LogLevel.Info,
  warning: LogLevel.Warning,
  error: LogLevel.Error
}

const formatOf = ({ LOG_FORMAT, NODE_ENV }: SettingsShape) =>
  LOG_FORMAT ?? (NODE_ENV !== "production" && process.stdout.isTTY ? "pretty" : "json")

const parseHeaders = (line: string) =>
  Object.fromEntries(
    line.split(",").map((pair) => [pair.slice(0, pair.indexOf("=")).trim(), pair.slice(pair.indexOf("=") + 1).trim()])
  )

/** Exports traces and logs over OTLP when an endpoint is set. Otherwise the tracer is disabled. */
const exporter = (settings: SettingsShape, name: string) =>
  settings.OTEL_EXPORTER_OTLP_ENDPOINT === undefined
    ? Layer.setTracerEnabled(false)
    : Layer.merge(
        spansOnRequest,
        Otlp.layerJson({
          baseUrl: settings.OTEL_EXPORTER_OTLP_ENDPOINT,
          resource: { serviceName: build.service, serviceVersion: build.version, attributes: { "process.name": name } },
          headers: settings.OTEL_EXPORTER_OTLP_HEADERS
            ? parseHeaders(Redacted.value(settings.OTEL_EXPORTER_OTLP_HEADERS))
            : undefined
        })
      ).pipe(Layer.provide(FetchHttpClient.layer))

/** Logging and tracing of a process. `name` identifies the process in both. */
export const TelemetryLive = (name: string) =>
  Layer.unwrapEffect(
    Effect.map(Settings, (settings) =>
      Layer.mergeAll(
        formatOf(settings) === "json"
          ? Logger.replace(Logger.defaultLogger, Logger.withConsoleLog(makeJsonLogger(name)))
          : Logger.pretty,
        Logger.minimumLogLevel(levels[settings.LOG_LEVEL]),
        exporter(settings, name)
      )
    )
  )

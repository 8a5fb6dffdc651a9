import { Layer, Logger, LogLevel } from "effect"

/** Collects log lines as JSON, from debug up, without traces. */
export const captureLogs = (lines: Array<string>) =>
  Layer.mergeAll(
    Logger.replace(
      Logger.defaultLogger,
      Logger.map(Logger.jsonLogger, (line) => void lines.push(line))
    ),
    Logger.minimumLogLevel(LogLevel.Debug),
    Layer.setTracerEnabled(false)
  )

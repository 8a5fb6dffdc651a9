import { Layer, Logger, LogLevel } from "effect"
import { failureDescribers } from "./failureDescribers.ts"

const maxRecent = 60
let recent: Array<string> = []

/** The last lines of all services and workers of this process. */
const describeLogs = () => {
  const lines = recent
  recent = []
  return Promise.resolve(lines.length === 0 ? "" : `The last lines of the log:\n${lines.join("\n")}`)
}
failureDescribers.add(describeLogs)

const keepRecent = (line: string) => {
  recent.push(line)
  if (recent.length > maxRecent) recent.shift()
}

/** Collects log lines as JSON, from debug up, without traces. */
export const captureLogs = (lines: Array<string>) =>
  Layer.mergeAll(
    Logger.replace(
      Logger.defaultLogger,
      Logger.map(Logger.jsonLogger, (line) => {
        lines.push(line)
        keepRecent(line)
      })
    ),
    Logger.minimumLogLevel(LogLevel.Debug),
    Layer.setTracerEnabled(false)
  )

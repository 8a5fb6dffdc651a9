import { get } from "node:http"
import { Data, Effect, Schedule } from "effect"
import { lastLines } from "./process/LogFile.ts"

export class ApiNotReady extends Data.TaggedError("ApiNotReady")<{
  readonly reason: string
  readonly logFile: string
}> {
  override get message() {
    const { logFile, reason } = this
    return `The api was not ready within a minute (${reason}). The end of ${logFile}:\n${lastLines(logFile)}`
  }
}

/** Without keep-alive: an open connection would delay the api's graceful shutdown. */
const statusOf = (url: string) =>
  Effect.async<number, string>((resume) => {
    const request = get(url, { agent: false, timeout: 2000 }, (response) => {
      response.resume()
      resume(Effect.succeed(response.statusCode ?? 0))
    })
    request.once("timeout", () => request.destroy(new Error("no response within 2 s")))
    request.once("error", (error) => resume(Effect.fail(error.message)))
    return Effect.sync(() => request.destroy())
  })

export const waitUntilApiReady = (base: string, logFile: string) =>
  statusOf(`${base}/readyz`).pipe(
    Effect.filterOrFail(
      (status) => status === 200,
      (status) => `/readyz returned ${status}`
    ),
    Effect.retry(Schedule.spaced("30 millis").pipe(Schedule.upTo("1 minute"))),
    Effect.mapError((reason) => new ApiNotReady({ reason, logFile }))
  )

import { runMain } from "@effect/platform-node/NodeRuntime"
import { Cause, Console, Effect, Option } from "effect"
import { type Settings, SettingsLive } from "../layers/infra/config/Settings.ts"

/** Prints the message of an expected error, and the whole cause of anything else. */
const reportFailure = (cause: Cause.Cause<unknown>) => {
  const failure = Option.getOrUndefined(Cause.failureOption(cause))
  if (Cause.isInterruptedOnly(cause)) return Effect.void
  return Console.error(failure instanceof Error ? failure.message : Cause.pretty(cause))
}

/** Runs a command as this process: with the settings of its environment, and an exit code. */
export const runProcess = (command: Effect.Effect<void, unknown, Settings>) =>
  Effect.suspend(() => command).pipe(
    Effect.provide(SettingsLive),
    Effect.tapErrorCause(reportFailure),
    runMain({ disableErrorReporting: true, disablePrettyLogger: true })
  )

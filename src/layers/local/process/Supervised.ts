import { Effect } from "effect"

/** Set for the processes that `up` starts. */
export const supervisedFlag = "SUPERVISED"

const longestFarewell = 15_000

const leave = () => {
  process.kill(process.pid, "SIGTERM")
  setTimeout(() => process.exit(1), longestFarewell).unref()
}

/**
 * For a child of `up`: its standard input is a pipe from there and closes when that process ends, even by SIGKILL.
 * The child then ends as if it had been asked to, so that nobody is left behind.
 */
export const exitWithParent = Effect.sync(() => {
  if (process.env[supervisedFlag] === undefined) return
  process.stdin.once("end", leave).once("error", leave).resume()
  // A command that has nothing left to do ends; this pipe must not hold it.
  if ("unref" in process.stdin) process.stdin.unref()
})

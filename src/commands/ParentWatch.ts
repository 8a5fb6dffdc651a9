import { Effect } from "effect"

/** The environment variable that marks the child processes of `up`. */
export const supervisedFlag = "SUPERVISED"

const maxShutdownMs = 15_000

const shutDown = () => {
  process.kill(process.pid, "SIGTERM")
  setTimeout(() => process.exit(1), maxShutdownMs).unref()
}

/**
 * Shuts a child of `up` down when its parent ends, even by SIGKILL, so that no orphan remains. The child's standard
 * input is a pipe from the parent, which closes when the parent ends.
 */
export const exitWithParent = Effect.sync(() => {
  if (process.env[supervisedFlag] === undefined) return
  process.stdin.once("end", shutDown).once("error", shutDown).resume()
  // The pipe must not keep a finished command alive.
  if ("unref" in process.stdin) process.stdin.unref()
})

import { type ChildProcess, fork } from "node:child_process"
import { fileURLToPath } from "node:url"
import { Effect } from "effect"
import { bundlePrograms } from "../servers.ts"

const makeSend = <Command extends object>(child: ChildProcess) => {
  const pending: Array<(result: unknown) => void> = []
  child.on("message", ({ result }: { readonly result?: unknown }) => pending.shift()?.(result))
  return (command: Command) =>
    new Promise<unknown>((resolve) => {
      if (!child.connected) return // nobody waits for the result
      pending.push(resolve)
      child.send(command)
    })
}

/**
 * Starts an entry point of a folder as a child process that ends with this one. It responds to every command with a
 * message `{ result }`, in the order of the commands.
 */
export const startHelperProcess = <Command extends object>(entry: string, folder = "bench") =>
  Effect.gen(function* () {
    yield* bundlePrograms([entry], folder)
    const child = yield* Effect.acquireRelease(
      Effect.sync(() => fork(fileURLToPath(new URL(`${entry}.js`, import.meta.url)), { detached: true })),
      (child) => Effect.sync(() => child.connected && child.disconnect())
    )
    return makeSend<Command>(child)
  })

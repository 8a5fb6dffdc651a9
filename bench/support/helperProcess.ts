import { type ChildProcess, fork } from "node:child_process"
import { fileURLToPath } from "node:url"
import { Effect } from "effect"
import { bundlePrograms } from "../servers.ts"

const makeSend = <Order extends object>(child: ChildProcess) => {
  const pending: Array<(result: unknown) => void> = []
  child.on("message", ({ answer }: { readonly answer?: unknown }) => pending.shift()?.(answer))
  return (command: Order) =>
    new Promise<unknown>((resolve) => {
      if (!child.connected) return // nobody waits for it any more
      pending.push(resolve)
      child.send(command)
    })
}

/**
 * Starts a source of a folder as a process of its own, which ends with ours. It answers every order with a message
 * `{ answer }`, one after the other.
 */
export const startHelperProcess = <Order extends object>(entry: string, folder = "bench") =>
  Effect.gen(function* () {
    yield* bundlePrograms([entry], folder)
    const child = yield* Effect.acquireRelease(
      Effect.sync(() => fork(fileURLToPath(new URL(`${entry}.js`, import.meta.url)), { detached: true })),
      (child) => Effect.sync(() => child.connected && child.disconnect())
    )
    return makeSend<Order>(child)
  })

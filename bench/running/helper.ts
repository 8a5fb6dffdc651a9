import { type ChildProcess, fork } from "node:child_process"
import { fileURLToPath } from "node:url"
import { Effect } from "effect"
import { bundleBeside } from "../servers.ts"

const makeAsk = <Order extends object>(child: ChildProcess) => {
  const asked: Array<(answer: unknown) => void> = []
  child.on("message", ({ answer }: { readonly answer?: unknown }) => asked.shift()?.(answer))
  return (order: Order) =>
    new Promise<unknown>((resolve) => {
      if (!child.connected) return // nobody waits for it any more
      asked.push(resolve)
      child.send(order)
    })
}

/**
 * Starts a source of a folder as a process of its own, which ends with ours. It answers every order with a message
 * `{ answer }`, one after the other.
 */
export const startHelper = <Order extends object>(entry: string, folder = "bench") =>
  Effect.gen(function* () {
    yield* bundleBeside([entry], folder)
    const child = yield* Effect.acquireRelease(
      Effect.sync(() => fork(fileURLToPath(new URL(`${entry}.js`, import.meta.url)), { detached: true })),
      (child) => Effect.sync(() => child.connected && child.disconnect())
    )
    return makeAsk<Order>(child)
  })

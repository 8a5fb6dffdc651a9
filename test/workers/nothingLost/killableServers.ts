import { type ChildProcess, spawn } from "node:child_process"
import { join } from "node:path"
import { Schema } from "effect"
import { bundle } from "../../../scripts/bundle.mjs"
import { projectRoot } from "../../../src/layers/local/ProjectRoot.ts"
import { supervisedFlag } from "../../../src/layers/local/process/ParentWatch.ts"
import { Addresses, type Command, Done, type ServerKind } from "./serversProtocol.ts"

const program = join(projectRoot, "node_modules", ".cache", "test-killable-servers", "main.js")

const messageFrom = (child: ChildProcess) =>
  new Promise<unknown>((resolve, reject) => {
    child.once("message", resolve)
    child.once("exit", (code) => reject(new Error(`The servers did not start (exit code ${code})`)))
  })

/** A PostgreSQL and a NATS server of our own, kept by a process that tidies up however this one ends. */
export const startKillableServers = async () => {
  await bundle("test/workers/nothingLost/servers.ts", program, { selfContained: true })
  const child = spawn(process.execPath, [program], {
    env: { ...process.env, [supervisedFlag]: "1" },
    stdio: ["pipe", "inherit", "inherit", "ipc"],
    detached: true
  })
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()))
  const addresses = Schema.decodeUnknownSync(Addresses)(await messageFrom(child))
  const orders = new Map<number, () => void>()
  child.on("message", (message) => orders.get(Schema.decodeUnknownSync(Done)(message).done)?.())
  let last = 0

  return {
    ...addresses,
    kill: (kill: ServerKind, downMillis: number) =>
      new Promise<void>((resolve, reject) => {
        const order = ++last
        orders.set(order, resolve)
        void ended.then(() => reject(new Error("Whoever keeps the servers ended")))
        child.send({ order, kill, downMillis } satisfies Command)
      }),
    stop: () => {
      child.kill("SIGTERM")
      return ended
    }
  }
}

export type KillableServers = Awaited<ReturnType<typeof startKillableServers>>

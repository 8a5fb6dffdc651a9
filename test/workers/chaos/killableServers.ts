import { type ChildProcess, spawn } from "node:child_process"
import { join } from "node:path"
import { Schema } from "effect"
import { bundle } from "../../../scripts/bundle.mjs"
import { supervisedFlag } from "../../../src/commands/ParentWatch.ts"
import { projectRoot } from "../../../tools/local/ProjectRoot.ts"
import { Addresses, type Command, Done, type ServerKind } from "./serversProtocol.ts"

const program = join(projectRoot, "node_modules", ".cache", "test-killable-servers", "main.js")

const receiveMessage = (child: ChildProcess) =>
  new Promise<unknown>((resolve, reject) => {
    child.once("message", resolve)
    child.once("exit", (code) => reject(new Error(`The servers did not start (exit code ${code})`)))
  })

/** Starts PostgreSQL and NATS in a child process, which cleans up even if this process is killed. */
export const startKillableServers = async () => {
  await bundle("test/workers/chaos/servers.ts", program, { selfContained: true })
  const child = spawn(process.execPath, [program], {
    env: { ...process.env, [supervisedFlag]: "1" },
    stdio: ["pipe", "inherit", "inherit", "ipc"],
    detached: true
  })
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()))
  const addresses = Schema.decodeUnknownSync(Addresses)(await receiveMessage(child))
  const pending = new Map<number, () => void>()
  child.on("message", (message) => pending.get(Schema.decodeUnknownSync(Done)(message).done)?.())
  let lastCommand = 0

  return {
    ...addresses,
    kill: (kill: ServerKind, downMillis: number) =>
      new Promise<void>((resolve, reject) => {
        const id = ++lastCommand
        pending.set(id, resolve)
        void exited.then(() => reject(new Error("The process of the servers exited")))
        child.send({ id, kill, downMillis } satisfies Command)
      }),
    stop: () => {
      child.kill("SIGTERM")
      return exited
    }
  }
}

export type KillableServers = Awaited<ReturnType<typeof startKillableServers>>

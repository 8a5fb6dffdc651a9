import { type ChildProcess, execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { settings } from "../../src/layers/config/Settings.ts"
import { projectRoot } from "../../src/layers/local/ProjectRoot.ts"
import { supervisedFlag } from "../../src/layers/local/process/ParentWatch.ts"

const program = join(projectRoot, "dist", "main.js")

/** What is set for another instance does not concern this one, but for how it runs on this machine and what it logs. */
const shared = ["NATS_SERVER_BIN", "LOG_LEVEL"]

const inherited = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => shared.includes(name) || !(name in settings))
)

const becomeReady = (child: ChildProcess) =>
  new Promise<void>((resolve, reject) => {
    let said = ""
    for (const stream of [child.stdout, child.stderr])
      stream?.on("data", (words) => {
        said += words
        if (said.includes("The service is ready.")) resolve()
      })
    child.once("exit", () => reject(new Error(`The service did not start. It said:\n${said}`)))
  })

/** The service as `npm start` starts it, in a folder of its own. */
export const launchService = (port: number, extra: Readonly<Record<string, string>>) => {
  const folder = mkdtempSync(join(tmpdir(), "contracting-walkthrough-"))
  const env = { ...inherited, ...extra, NODE_ENV: "development", DATA_DIR: folder, PORT: String(port) }
  const child = spawn(process.execPath, [program, "up"], {
    // It ends with us, also when we are killed.
    env: { ...env, [supervisedFlag]: "1" },
    stdio: ["pipe", "pipe", "pipe"]
  })
  const ended: Array<Promise<unknown>> = [once(child, "exit")]
  return {
    logs: join(folder, "logs"),
    ready: becomeReady(child),

    /** Who somebody is, for a day; only a service in development believes it. */
    tokenFor: async (subject: string) => {
      const asking = promisify(execFile)(process.execPath, [program, "token", "--sub", subject], { env })
      ended.push(asking)
      return (await asking).stdout.trim()
    },

    stop: async () => {
      child.kill("SIGTERM")
      await Promise.allSettled(ended)
    },
    forget: () => rmSync(folder, { recursive: true, force: true })
  }
}

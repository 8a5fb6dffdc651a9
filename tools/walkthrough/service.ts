import { type ChildProcess, execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { supervisedFlag } from "../../src/commands/ParentWatch.ts"
import { settings } from "../../src/layers/infra/config/Settings.ts"
import { projectRoot } from "../local/ProjectRoot.ts"

const programOf = (name: string) => join(projectRoot, "dist", `${name}.js`)

/** Settings of another instance do not apply here, except these. */
const inheritedSettings = ["NATS_SERVER_BIN", "LOG_LEVEL"]

const inheritedEnv = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => inheritedSettings.includes(name) || !(name in settings))
)

const waitUntilReady = (child: ChildProcess) =>
  new Promise<void>((resolve, reject) => {
    let output = ""
    for (const stream of [child.stdout, child.stderr])
      stream?.on("data", (chunk) => {
        output += chunk
        if (output.includes("The service is ready.")) resolve()
      })
    child.once("exit", () => reject(new Error(`The service did not start. Its output:\n${output}`)))
  })

/** Starts the service like `npm start`, with a temporary data folder. */
export const launchService = (port: number, extraEnv: Readonly<Record<string, string>>) => {
  const folder = mkdtempSync(join(tmpdir(), "contracting-walkthrough-"))
  const env = { ...inheritedEnv, ...extraEnv, NODE_ENV: "development", DATA_DIR: folder, PORT: String(port) }
  const child = spawn(process.execPath, [programOf("local")], {
    // It ends with this process, even when that is killed.
    env: { ...env, [supervisedFlag]: "1" },
    stdio: ["pipe", "pipe", "pipe"]
  })
  const exits: Array<Promise<unknown>> = [once(child, "exit")]
  return {
    logFolder: join(folder, "logs"),
    ready: waitUntilReady(child),

    /** A development token. */
    signTokenFor: async (subject: string) => {
      const signing = promisify(execFile)(process.execPath, [programOf("main"), "token", "--sub", subject], { env })
      exits.push(signing)
      return (await signing).stdout.trim()
    },

    stop: async () => {
      child.kill("SIGTERM")
      await Promise.allSettled(exits)
    },
    removeFolder: () => rmSync(folder, { recursive: true, force: true })
  }
}

import { spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { projectRoot } from "../../tools/local/ProjectRoot.ts"

/** Starts `npm run <name>` with these arguments. Settings of this machine do not reach it. */
export const startTool = (name: string, args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) => {
  const { API: _api, PORT: _port, TOKEN: _token, ...inherited } = process.env
  const child = spawn(process.execPath, [join(projectRoot, "scripts", "tool.mjs"), name, ...args], {
    env: { ...inherited, ...env },
    stdio: ["ignore", "pipe", "pipe"]
  })
  const printed = { stdout: "", stderr: "" }
  child.stdout.on("data", (chunk) => {
    printed.stdout += chunk
  })
  child.stderr.on("data", (chunk) => {
    printed.stderr += chunk
  })
  const ended = once(child, "close").then(([code]) => ({ code, ...printed }))
  return { printed, ended, kill: (signal: NodeJS.Signals) => void child.kill(signal) }
}

export const runTool = (...given: Parameters<typeof startTool>) => startTool(...given).ended

/** The example output in a page of the documentation. */
export const outputIn = (page: string) =>
  /```text\n(.*?)```/s.exec(readFileSync(join(projectRoot, "docs", page), "utf8"))?.[1] ?? ""

/** Replaces identifiers, secrets, addresses and times, which differ between runs. */
export const normalize = (output: string) =>
  output
    .replaceAll(/(tnt|int|evt|whsec)_[\w+/=…]+/g, "$1_…")
    .replaceAll(/http:\/\/\S+/g, "http://…")
    .replaceAll(/\d\d:\d\d:\d\d/g, "00:00:00")
    .replaceAll(/[\d.]+ s\)/g, "… s)")
    .replaceAll(/ +/g, " ")

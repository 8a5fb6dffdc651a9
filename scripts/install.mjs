import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { inProject, npm, root } from "./project.mjs"

const packagesOf = (file) => {
  try {
    return JSON.parse(readFileSync(file, "utf8")).packages
  } catch {
    return undefined
  }
}

/**
 * npm writes down what it installed as its very last act, so this record is missing after an interrupted install.
 * Comparing it with the lock file also honours installs made by hand, and those without development packages.
 */
export const isInstalled = ({ dev }) => {
  const installed = packagesOf(inProject("node_modules", ".package-lock.json"))
  const wanted = packagesOf(inProject("package-lock.json"))
  if (installed === undefined || wanted === undefined) return false
  return Object.entries(wanted).every(
    ([path, { dev: forDevelopment, integrity, optional, version }]) =>
      path === "" ||
      optional ||
      (forDevelopment && !dev) ||
      (installed[path]?.version === version && installed[path]?.integrity === integrity)
  )
}

/** Installs what the lock file names. `started` hears the pid, so that the lock can outlive us as long as npm does. */
export const install = ({ dev, started }) =>
  new Promise((resolve, reject) => {
    // The log level is told because `npm run -s` hands "silent" down, which would hide why an install failed.
    const { command, args } = npm(
      "ci",
      "--no-audit",
      "--no-fund",
      "--loglevel=error",
      ...(dev ? ["--include=dev"] : [])
    )
    const child = spawn(command, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] })
    const output = []
    child.stdout.on("data", (chunk) => output.push(chunk))
    child.stderr.on("data", (chunk) => output.push(chunk))
    const stop = (signal) => {
      child.kill(signal)
      process.exit(1)
    }
    const signals = ["SIGINT", "SIGTERM", "SIGHUP"]
    for (const signal of signals) process.once(signal, stop)
    child.once("spawn", () => started(child.pid))
    child.once("error", (cause) => reject(new Error(`npm could not be started: ${cause.message}`)))
    child.once("close", (code) => {
      for (const signal of signals) process.removeListener(signal, stop)
      if (code === 0) resolve()
      else reject(new Error(`${Buffer.concat(output)}\nThe packages could not be installed: see npm's words above.`))
    })
  })

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
 * npm writes its record of installed packages last, so the record is missing after an interrupted install. Comparing it
 * with the lock file also accepts manual installs and installs without development packages.
 */
export const isInstalled = ({ dev }) => {
  const installed = packagesOf(inProject("node_modules", ".package-lock.json"))
  const expected = packagesOf(inProject("package-lock.json"))
  if (installed === undefined || expected === undefined) return false
  return Object.entries(expected).every(
    ([path, { dev: forDevelopment, integrity, optional, version }]) =>
      path === "" ||
      optional ||
      (forDevelopment && !dev) ||
      (installed[path]?.version === version && installed[path]?.integrity === integrity)
  )
}

/**
 * Installs the packages of the lock file. `started` receives npm's pid, so that the lock lasts as long as npm, even if
 * this process ends.
 */
export const install = ({ dev, started }) =>
  new Promise((resolve, reject) => {
    // `npm ci` begins by deleting all packages, of which PostgreSQL may run: those for development are added to the others.
    const installation = dev && isInstalled({ dev: false }) ? ["install", "--no-save"] : ["ci"]
    // `npm run -s` passes the log level "silent" on, which would hide the cause of a failure.
    const { command, args } = npm(
      ...installation,
      "--no-audit",
      "--no-fund",
      "--loglevel=error",
      dev ? "--include=dev" : "--omit=dev"
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
      else reject(new Error(`${Buffer.concat(output)}\nThe packages could not be installed: see npm's output above.`))
    })
  })

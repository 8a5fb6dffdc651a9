import { execFile } from "node:child_process"
import { existsSync, readdirSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { promisify } from "node:util"
import { install, isInstalled } from "./install.mjs"
import { hasPackagesMark } from "./packagesMark.mjs"
import { tryLock } from "./pidLock.mjs"
import { during } from "./progress.mjs"
import { inProject } from "./project.mjs"

export const main = inProject("dist", "main.js")

/** Starts everything on this machine: the program of `npm start`. */
export const local = inProject("dist", "local.js")

const requireNode = () => {
  const [major, minor] = process.versions.node.split(".").map(Number)
  if (major > 20 || (major === 20 && minor >= 19)) return
  throw new Error(`Node.js 20.19 or newer is required, this is ${process.versions.node}: see https://nodejs.org`)
}

// Checks folders too: removing a file changes only the time of its folder.
export const changedSince = (time, path) => {
  // An editor may remove its temporary file while this looks at it.
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return true
  return (
    stats.mtimeMs > time ||
    (stats.isDirectory() && readdirSync(path).some((name) => changedSince(time, join(path, name))))
  )
}

/** An installation without sources has nothing to build. */
const isNewerThan = (time, path) => existsSync(path) && changedSince(time, path)

/** Whether a source of the service, or of what starts it, has changed since a time in milliseconds. */
export const sourcesChangedSince = (time) =>
  ["src", "tools/local"].some((folder) => isNewerThan(time, inProject(folder)))

/** Whether a bundle of the service contains the current sources and packages. */
export const isBuilt = (bundle) => {
  if (!existsSync(bundle) || !hasPackagesMark(bundle)) return false
  const { mtimeMs } = statSync(bundle)
  return !sourcesChangedSince(mtimeMs) && !isNewerThan(mtimeMs, inProject("scripts", "bundle.mjs"))
}

const clientManifest = inProject("dist", "client", "package.json")

/** What the client is built of: the API with its schemas, the sources of the package, and its README. */
const clientSources = () => [
  ...["src/domain", "src/http", "client/build", "client/tsconfig.json"],
  ...["docs/client.md", "package.json", "package-lock.json"],
  ...readdirSync(inProject("client/src"))
    .filter((name) => name !== "generated")
    .map((name) => `client/src/${name}`)
]

const isClientBuilt = () => {
  if (!existsSync(clientManifest)) return false
  const { mtimeMs } = statSync(clientManifest)
  return clientSources().every((name) => !changedSince(mtimeMs, inProject(name)))
}

const lock = async () => {
  let hasWarned = false
  for (;;) {
    const lock = tryLock(inProject(".cache", "prepare.lock"))
    if (!lock.held) return lock
    if (!hasWarned) process.stderr.write(`… another process (${lock.pid}) is installing or building; waiting for it\n`)
    hasWarned = true
    await pause(100 + Math.random() * 200)
  }
}

/** Builds the service with everything that it reads at run time. */
export const buildProgram = async (folder, { local = true, sourcemap = true } = {}) => {
  const { bundleProgram } = await import("./bundle.mjs")
  await bundleProgram(folder, { local, sourcemap })
}

const buildClient = async () => {
  const { bundle } = await import("./bundle.mjs")
  const program = inProject("node_modules", ".cache", "client", "main.js")
  await bundle("client/build/main.ts", program)
  await promisify(execFile)(process.execPath, [program]).catch(({ message, stdout }) => {
    throw new Error(`${stdout}\n${message}`)
  })
}

/** The client of S3 is a package for development: who needs none installs none. */
export const usesS3 = () => (process.env.BLOB_STORE_BUCKET ?? "") !== ""

/**
 * Installs the packages and builds the bundle unless they are up to date. `force` always builds, `installOnly` never
 * does. `client` builds the client package too.
 */
export const prepare = async ({
  quiet = false,
  dev = false,
  force = false,
  installOnly = false,
  client = false
} = {}) => {
  requireNode()
  const needsBuild = () => !installOnly && (force || !isBuilt(main))
  const needsClient = () => client && (force || !isClientBuilt())
  if (isInstalled({ dev }) && !needsBuild() && !needsClient()) return
  const { release, share } = await lock()
  try {
    if (!isInstalled({ dev })) await during("Installing packages", { quiet }, () => install({ dev, started: share }))
    if (needsBuild()) await during("Building", { quiet }, () => buildProgram(dirname(main)))
    if (needsClient()) await during("Building the client", { quiet }, buildClient)
  } finally {
    release()
  }
}

import { execFileSync } from "node:child_process"
import { existsSync } from "node:fs"
import { basename, delimiter, join } from "node:path"
import { pathToFileURL } from "node:url"
import { inProject } from "./project.mjs"

const isFound = (path) => path !== undefined && path !== "" && existsSync(path)

const onPath = (name) => (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, name))

/** The same engine without a window and without a viewer of PDF files: tests of the console take a quarter less CPU time. */
const shell = "chromium-headless-shell"

const configured = () => {
  const path = process.env.CHROMIUM_BIN
  if (path === undefined || path === "") return undefined
  if (!existsSync(path)) throw new Error(`CHROMIUM_BIN is ${path}, which does not exist`)
  return path
}

const findShell = () => onPath(shell).find(isFound)

const findWithWindow = () =>
  [
    ...onPath("chromium"),
    ...onPath("chromium-browser"),
    "/usr/bin/chromium",
    inProject(".cache", "chromium", "chrome")
  ].find(isFound)

/** Finds Chromium: CHROMIUM_BIN, then the shell, then the program that people use. Returns undefined without any. */
export const findBrowser = () => configured() ?? findShell() ?? findWithWindow()

/** The same, but prefers the program that people use, to see what they see. */
export const findUsualBrowser = () => configured() ?? findWithWindow() ?? findShell()

const run = (command, ...args) =>
  execFileSync(command, args, {
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" }
  })

/** Package mirrors fail now and then; a retry often succeeds. */
const retry = (attempts, work) => {
  try {
    return work()
  } catch (error) {
    if (attempts <= 1) throw error
    return retry(attempts - 1, work)
  }
}

const canInstall = () => process.getuid?.() === 0 && onPath("apt-get").some(isFound)

const install = (name) =>
  retry(3, () => {
    run("apt-get", "update", "-qq")
    run("apt-get", "install", "-qq", "-y", "--no-install-recommends", name)
  })

/** Finds Chromium without a window, or installs it with apt-get when this process runs as root on Debian. */
export const installBrowser = () => {
  const found = findBrowser()
  const isBest = found !== undefined && (found === process.env.CHROMIUM_BIN || basename(found) === shell)
  if (isBest || !canInstall()) return found
  try {
    install(shell)
  } catch {
    // Not every release has the package.
    if (found === undefined) install("chromium")
  }
  return findBrowser()
}

export const withoutBrowser = "no Chromium was found: install it, or set CHROMIUM_BIN, to run these tests"

// As a program: exits with 1 when there is no browser.
if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const browser = installBrowser()
  if (browser === undefined) process.stderr.write(`Browser tests cannot run: ${withoutBrowser}\n`)
  else process.stdout.write(`Browser for the tests: ${browser}\n`)
  process.exitCode = browser === undefined ? 1 : 0
}

import { execFileSync } from "node:child_process"
import { existsSync } from "node:fs"
import { delimiter, join } from "node:path"
import { pathToFileURL } from "node:url"
import { inProject } from "./project.mjs"

const isFound = (path) => path !== undefined && path !== "" && existsSync(path)

const onPath = (name) => (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, name))

/** The program of a Chromium: the one named by CHROMIUM_BIN, one on the path or where Debian puts it, or one put into the project's cache. */
export const findBrowser = () => {
  const named = process.env.CHROMIUM_BIN
  if (named !== undefined && named !== "") {
    if (!existsSync(named)) throw new Error(`CHROMIUM_BIN names ${named}, where there is nothing`)
    return named
  }
  return [
    ...onPath("chromium"),
    ...onPath("chromium-browser"),
    "/usr/bin/chromium",
    inProject(".cache", "chromium", "chrome")
  ].find(isFound)
}

const run = (command, ...args) =>
  execFileSync(command, args, {
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" }
  })

/** A mirror that does not answer at once often does a moment later. */
const tryAgain = (attempts, work) => {
  try {
    return work()
  } catch (error) {
    if (attempts <= 1) throw error
    return tryAgain(attempts - 1, work)
  }
}

const canInstall = () => process.getuid?.() === 0 && onPath("apt-get").some(isFound)

/** The same; if there is none it is installed, where that is a matter of Debian's package manager and of being root. */
export const installBrowser = () => {
  const found = findBrowser()
  if (found !== undefined || !canInstall()) return found
  tryAgain(3, () => {
    run("apt-get", "update", "-qq")
    run("apt-get", "install", "-qq", "-y", "--no-install-recommends", "chromium")
  })
  return findBrowser()
}

export const withoutBrowser =
  "no Chromium was found: install one, or name it in CHROMIUM_BIN, and these tests run as well"

// Started as a program, by those for whom there must be a browser.
if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const browser = installBrowser()
  if (browser === undefined) process.stderr.write(`Nothing can be tried in a browser: ${withoutBrowser}\n`)
  else process.stdout.write(`The browser for the tests is ${browser}\n`)
  process.exitCode = browser === undefined ? 1 : 0
}

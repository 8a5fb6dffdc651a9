import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

export const root = dirname(dirname(fileURLToPath(import.meta.url)))
export const inProject = (...parts) => join(root, ...parts)

/** npm as it was started for us: the `npm` on the path may be another one, and on Windows is no program at all. */
export const npm = (...args) =>
  process.env.npm_execpath?.endsWith(".js")
    ? { command: process.execPath, args: [process.env.npm_execpath, ...args] }
    : { command: "npm", args }

/** Ends the process with the message alone: where in a script it was noticed helps nobody. */
export const orExplain = (work) =>
  work.catch((error) => {
    process.stderr.write(`\n${error instanceof Error ? error.message : error}\n`)
    process.exit(1)
  })

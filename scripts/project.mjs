import { existsSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const nearestWithPackage = (folder) =>
  existsSync(join(folder, "package.json")) || dirname(folder) === folder ? folder : nearestWithPackage(dirname(folder))

/** Searches upwards, because tests bundle some scripts with what they start. */
export const root = nearestWithPackage(dirname(fileURLToPath(import.meta.url)))
export const inProject = (...parts) => join(root, ...parts)

/** The npm that runs this script: `npm` in PATH may be another version, and on Windows it is no executable. */
export const npm = (...args) =>
  process.env.npm_execpath?.endsWith(".js")
    ? { command: process.execPath, args: [process.env.npm_execpath, ...args] }
    : { command: "npm", args }

/** On failure prints the message without a stack trace and exits with 1. */
export const orExplain = (work) =>
  work.catch((error) => {
    process.stderr.write(`\n${error instanceof Error ? error.message : error}\n`)
    process.exit(1)
  })

/** Reads settings from `.env`, if there is one. Variables of the environment take precedence. */
export const loadEnvironmentFile = () => {
  const file = inProject(".env")
  if (existsSync(file)) process.loadEnvFile(file)
}

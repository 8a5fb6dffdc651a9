import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { projectRoot } from "../../../tools/local/ProjectRoot.ts"
import { shellOf } from "../assertions/docs.ts"
import type { Service } from "./service.ts"

/** Runs commands of the documentation against a service, with other texts in place of some, and returns their output. */
export const runShell = async (
  { dataDir, url }: Pick<Service, "dataDir" | "url">,
  commands: ReadonlyArray<string>,
  replacements: Readonly<Record<string, string>> = {}
) => {
  const script = Object.entries({ "http://localhost:3000": url, ".data/": `${dataDir}/`, ...replacements }).reduce(
    (text, [from, to]) => text.replaceAll(from, to),
    commands.join("\n")
  )
  const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", script], {
    env: { ...process.env, DATA_DIR: dataDir },
    cwd: projectRoot
  })
  return stdout
}

/** Runs commands that print one JSON document per line, or nothing. */
export const runJsonShell = async (...args: Parameters<typeof runShell>) =>
  (await runShell(...args))
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line))

/** Runs the first five minutes of the README. `shell` is the command that continues in the same shell. */
export const runFirstMinutes = async (service: Pick<Service, "dataDir" | "url">) => {
  const file = join(service.dataDir, "shell")
  const save = `{ declare -p API TOKEN TENANT CLIENT CONTRACT INVOICE; declare -f api field; } > ${file}`
  const responses = await runJsonShell(service, [shellOf("README.md", "The first five minutes"), save])
  return { responses, shell: `source ${file}` }
}

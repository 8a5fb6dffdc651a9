import { execFile } from "node:child_process"
import { promisify } from "node:util"

const run = promisify(execFile)

/** What the program printed. It exits with 1 if a file does not meet the standard, and with more if it could not run. */
const outputOf = async (program: string, files: ReadonlyArray<string>): Promise<string> => {
  try {
    const { stdout } = await run(program, [...files], { maxBuffer: 2 ** 28 })
    return stdout
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === 1 && "stdout" in error) return String(error.stdout)
    throw error
  }
}

/** The rules that a validator names for each file. A file that it cannot read breaks XML-CHAR. */
export const findBrokenRules = async (
  program: string,
  files: ReadonlyArray<string>
): Promise<ReadonlyMap<string, ReadonlySet<string>>> => {
  const output = await outputOf(program, files)
  const broken = new Map<string, Set<string>>()
  let current = new Set<string>()
  for (const line of output.split("\n")) {
    const file = files.find((name) => line.startsWith(`${name} (`) || line.startsWith(`${name}: `))
    if (file !== undefined) {
      current = new Set(line.endsWith(": could not be read") ? ["XML-CHAR"] : [])
      broken.set(file, current)
    }
    const [, rule] = /^\s+fatal: \[([A-Z0-9-]+)\]/.exec(line) ?? []
    if (rule !== undefined) current.add(rule)
  }
  const missing = files.filter((file) => !broken.has(file))
  if (missing.length > 0) throw new Error(`The validator says nothing about ${missing.join(", ")}:\n${output}`)
  return broken
}

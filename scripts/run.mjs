import { pathToFileURL } from "node:url"
import { local, main, prepare, usesS3 } from "./prepare.mjs"
import { loadEnvironmentFile, orExplain } from "./project.mjs"

loadEnvironmentFile()
const args = process.argv.slice(2)
const isStart = args[0] === "up" && !args.includes("--help")
await orExplain(prepare({ quiet: !isStart, dev: usesS3() }))

// In the same process, so that the command receives the signals and sets the exit code.
const program = isStart ? local : main
process.argv = [process.execPath, program, ...(isStart ? [] : args)]
await import(pathToFileURL(program).href)

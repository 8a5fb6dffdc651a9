import { pathToFileURL } from "node:url"
import { main, prepare, usesS3 } from "./prepare.mjs"
import { loadEnvironmentFile, orExplain } from "./project.mjs"

loadEnvironmentFile()
const args = process.argv.slice(2)
await orExplain(prepare({ quiet: args[0] !== "up", dev: usesS3() }))

// In the same process, so that the command receives the signals and sets the exit code.
process.argv = [process.execPath, main, ...args]
await import(pathToFileURL(main).href)

import { pathToFileURL } from "node:url"
import { main, prepare } from "./prepare.mjs"
import { orExplain } from "./project.mjs"

const args = process.argv.slice(2)
await orExplain(prepare({ quiet: args[0] !== "up" }))

// In this very process, so that signals, exit code and output are the command's own.
process.argv = [process.execPath, main, ...args]
await import(pathToFileURL(main).href)

import { pathToFileURL } from "node:url"
import { main, prepare } from "./prepare.mjs"
import { loadEnvironmentFile, orExplain } from "./project.mjs"

loadEnvironmentFile()
const args = process.argv.slice(2)
// The client of S3 is a package for development: who needs none installs none.
const needsS3 = (process.env.BLOB_STORE_BUCKET ?? "") !== ""
await orExplain(prepare({ quiet: args[0] !== "up", dev: needsS3 }))

// In the same process, so that the command receives the signals and sets the exit code.
process.argv = [process.execPath, main, ...args]
await import(pathToFileURL(main).href)

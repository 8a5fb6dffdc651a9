import { once } from "node:events"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"

// A process of `npm run dev` that waits for its turn. It loads the packages beside it first; then a line on its standard
// input has the arguments with which it runs `main.js`, as it is built by then.

const load = (...path: ReadonlyArray<string>) => import(pathToFileURL(join(import.meta.dirname, ...path)).href)

const packages = readdirSync(join(import.meta.dirname, "packages")).filter((name) => name.endsWith(".js"))
await Promise.all(packages.map((name) => load("packages", name)))

const exit = () => process.exit()
process.stdin.once("end", exit)
const [line] = await once(process.stdin, "data")
process.stdin.off("end", exit)
const args: ReadonlyArray<string> = JSON.parse(String(line))
process.argv.splice(1, Number.POSITIVE_INFINITY, join(import.meta.dirname, "main.js"), ...args)
process.title = ["contracting", ...args].join(" ")
await load("main.js")

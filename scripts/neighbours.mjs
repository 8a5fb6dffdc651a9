import { pathToFileURL } from "node:url"
import { prepare } from "./prepare.mjs"
import { inProject, orExplain } from "./project.mjs"

const neighbours = inProject("node_modules", ".cache", "neighbours", "main.js")

await orExplain(
  prepare({ dev: true }).then(async () => {
    const { bundle } = await import("./bundle.mjs")
    await bundle("neighbours/main.ts", neighbours)
  })
)
process.argv = [process.execPath, neighbours, ...process.argv.slice(2)]
await import(pathToFileURL(neighbours).href)

import { pathToFileURL } from "node:url"
import { prepare } from "./prepare.mjs"
import { inProject, orExplain } from "./project.mjs"

const walkthrough = inProject("node_modules", ".cache", "walkthrough", "main.js")

await orExplain(
  prepare({ dev: true }).then(async () => {
    const { bundle } = await import("./bundle.mjs")
    await bundle("examples/walkthrough/main.ts", walkthrough)
  })
)
process.argv = [process.execPath, walkthrough, ...process.argv.slice(2)]
await import(pathToFileURL(walkthrough).href)

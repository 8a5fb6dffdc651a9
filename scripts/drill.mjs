import { pathToFileURL } from "node:url"
import { prepare } from "./prepare.mjs"
import { inProject, orExplain } from "./project.mjs"

const program = inProject("node_modules", ".cache", "drills", "main.js")

await orExplain(
  prepare({ dev: true }).then(async () => {
    const { bundle } = await import("./bundle.mjs")
    await bundle("drills/main.ts", program)
  })
)
process.argv = [process.execPath, program, ...process.argv.slice(2)]
await import(pathToFileURL(program).href)

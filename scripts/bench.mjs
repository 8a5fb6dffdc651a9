import { pathToFileURL } from "node:url"
import { prepare } from "./prepare.mjs"
import { inProject, orExplain } from "./project.mjs"

const bench = inProject("node_modules", ".cache", "bench", "main.js")

await orExplain(
  prepare({ dev: true }).then(async () => {
    const { bundle } = await import("./bundle.mjs")
    await bundle("bench/main.ts", bench)
  })
)
process.argv = [process.execPath, bench, ...process.argv.slice(2)]
await import(pathToFileURL(bench).href)

import { pathToFileURL } from "node:url"
import { prepare } from "./prepare.mjs"
import { inProject, orExplain } from "./project.mjs"

/** Builds and runs a program of the folder tools, which uses the client package. */
export const runTool = async (name) => {
  const program = inProject("node_modules", ".cache", name, "main.js")
  await orExplain(
    prepare({ quiet: true, dev: true, client: true }).then(async () => {
      const { bundle } = await import("./bundle.mjs")
      await bundle(`tools/${name}/main.ts`, program)
    })
  )
  process.argv = [process.execPath, program, ...process.argv.slice(2)]
  await import(pathToFileURL(program).href)
}

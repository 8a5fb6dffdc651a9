import { pathToFileURL } from "node:url"
import { prepare } from "./prepare.mjs"
import { inProject, orExplain } from "./project.mjs"

/** Builds and runs a program of this project that is no part of the service. */
export const runProgram = async (name, entry, options = {}) => {
  const program = inProject("node_modules", ".cache", name, "main.js")
  await orExplain(
    prepare({ dev: true, ...options }).then(async () => {
      const { bundle } = await import("./bundle.mjs")
      await bundle(entry, program)
    })
  )
  process.argv = [process.execPath, program, ...process.argv.slice(2)]
  await import(pathToFileURL(program).href)
}

/** Builds and runs a program of the folder tools, which uses the client package. */
export const runTool = (name) => runProgram(name, `tools/${name}/main.ts`, { quiet: true, client: true })

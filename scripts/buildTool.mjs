import { basename, dirname } from "node:path"
import { prepare } from "./prepare.mjs"
import { inProject } from "./project.mjs"

/** Builds a program of this project that is no part of the service. Returns its file. */
export const buildTool = async (entry, options) => {
  await prepare({ dev: true, ...options })
  const { bundle } = await import("./bundle.mjs")
  const program = inProject("node_modules", ".cache", "tools", dirname(entry), `${basename(entry, ".ts")}.js`)
  await bundle(entry, program)
  return program
}

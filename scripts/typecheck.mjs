import { spawnSync } from "node:child_process"
import { effectCompiler } from "./effectCompiler.mjs"
import { inProject, root } from "./project.mjs"

const run = (command, ...args) => {
  const { error, status } = spawnSync(command, args, { cwd: root, stdio: "inherit" })
  if (error !== undefined) throw error
  return status === 0
}

const runModule = (path, ...args) => run(process.execPath, inProject(path), ...args)

const checkProject = () => {
  const { args, command } = effectCompiler()
  return run(command, ...args)
}

const areTyped =
  runModule("scripts/consoleTypes.mjs") &&
  checkProject() &&
  runModule("node_modules/@typescript/native-preview/bin/tsgo", "--noEmit", "-p", "src/console")
process.exitCode = areTyped ? 0 : 1

import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs"
import { join } from "node:path"
import { inProject, npm } from "./project.mjs"

const nativeVersion = "0.45.0"

/** The registry does not have it for every platform. */
const nativePackage = `@effect/tsgo-${process.platform}-${process.arch}`
const nativeFolder = inProject(".cache", "effect-tsgo", `${nativeVersion}-${process.platform}-${process.arch}`)
const nativeProgram = join(nativeFolder, "node_modules", nativePackage, "lib", "tsc")

/** Not in package.json: `npm ci` refuses a lock file that lacks the packages of other platforms. */
const fetchNative = () => {
  const unpacked = `${nativeFolder}.${process.pid}`
  const { args, command } = npm(
    ...["install", "--prefix", unpacked, "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"],
    `${nativePackage}@${nativeVersion}`
  )
  try {
    mkdirSync(unpacked, { recursive: true })
    execFileSync(command, args, { stdio: "ignore" })
    if (!existsSync(nativeProgram)) renameSync(unpacked, nativeFolder)
  } catch {
    // The patched compiler finds the same, in twice the time.
  } finally {
    rmSync(unpacked, { recursive: true, force: true })
  }
}

/** A file for each, because each compiler reads what it wrote. */
const buildInfoOf = (name) => inProject("node_modules", ".cache", `${name}.tsbuildinfo`)

const native = (buildInfo = buildInfoOf("native")) => ({
  command: nativeProgram,
  args: ["--noEmit", "--tsBuildInfoFile", buildInfo]
})

/** With a larger heap, because collecting garbage takes a tenth of the time otherwise. */
const patched = (buildInfo = buildInfoOf("patched")) => {
  const patch = [inProject("node_modules/@effect/language-service/cli.js"), "patch", "--module", "tsc"]
  execFileSync(process.execPath, patch, { stdio: "ignore" })
  const heap = ["--initial-old-space-size=2048", "--min-semi-space-size=64", "--max-semi-space-size=128"]
  return {
    command: process.execPath,
    args: [...heap, inProject("node_modules/typescript/bin/tsc"), "--noEmit", "--tsBuildInfoFile", buildInfo]
  }
}

/** A compiler of TypeScript that knows the rules of Effect, with its arguments: the native one where there is one. */
export const effectCompiler = (buildInfo) => {
  if (!existsSync(nativeProgram)) fetchNative()
  return existsSync(nativeProgram) ? native(buildInfo) : patched(buildInfo)
}

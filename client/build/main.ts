import { execFileSync } from "node:child_process"
import { copyFileSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { projectRoot } from "../../tools/local/ProjectRoot.ts"
import { printErrors, printOperations, printSchemas } from "./print.ts"

const folder = join(projectRoot, "client")
const out = join(projectRoot, "dist", "client")

const generate = async () => {
  const target = join(folder, "src", "generated")
  mkdirSync(target, { recursive: true })
  // Operations come first: they name the schemas that have no name in the document.
  writeFileSync(join(target, "operations.ts"), printOperations())
  writeFileSync(join(target, "errors.ts"), printErrors())
  writeFileSync(join(target, "schemas.ts"), await printSchemas())
}

const compile = () => {
  rmSync(out, { recursive: true, force: true })
  const compiler = join(projectRoot, "node_modules", "@typescript", "native-preview", "bin", "tsgo")
  execFileSync(process.execPath, [compiler, "-p", folder], { stdio: "inherit" })
}

/** Written last, with the time of the start: a source that changes during the build must look newer. */
const writeManifest = (startedAt: Date) => {
  const { license, version } = JSON.parse(readFileSync(join(projectRoot, "package.json"), "utf8"))
  const manifest = {
    name: "contracting-client",
    version,
    description: "Typed client of the contracting service",
    private: true,
    license,
    type: "module",
    sideEffects: false,
    engines: { node: ">=20" },
    exports: { ".": { types: "./index.d.ts", default: "./index.js" } }
  }
  const file = join(out, "package.json")
  writeFileSync(file, `${JSON.stringify(manifest, undefined, 2)}\n`)
  utimesSync(file, startedAt, startedAt)
}

const startedAt = new Date()
await generate()
compile()
copyFileSync(join(projectRoot, "docs", "client.md"), join(out, "README.md"))
writeManifest(startedAt)

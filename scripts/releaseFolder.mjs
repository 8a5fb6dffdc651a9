import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { build, stop } from "esbuild"
import { commonOptions, requireBanner } from "./bundle.mjs"
import { buildProgram } from "./prepare.mjs"
import { inProject, root } from "./project.mjs"

const readManifest = (folder) => JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))

/** Where a package is installed, as seen from a folder. Undefined for an optional package of another platform. */
const findPackage = (name, from) => {
  const folder = join(from, "node_modules", name)
  if (existsSync(folder)) return folder
  return from === root ? undefined : findPackage(name, dirname(from))
}

const packageWithDependencies = (name, from = root, found = new Set()) => {
  const folder = findPackage(name, from)
  if (folder === undefined || found.has(folder)) return found
  found.add(folder)
  const { dependencies, optionalDependencies } = readManifest(folder)
  for (const dependency of Object.keys({ ...dependencies, ...optionalDependencies }))
    packageWithDependencies(dependency, folder, found)
  return found
}

/** For a package with native code, which cannot be bundled. */
const copyPackage = (name, target) => {
  for (const folder of packageWithDependencies(name))
    cpSync(folder, join(target, relative(root, folder)), {
      recursive: true,
      filter: (path) => path === folder || !relative(folder, path).startsWith("node_modules")
    })
}

/** One file instead of a package and its dependencies, which are ten times as large. */
const bundlePackage = async (name, target) => {
  const folder = join(target, "node_modules", name)
  await build({
    ...commonOptions,
    stdin: { contents: `export * from "${name}"`, resolveDir: root },
    outfile: join(folder, "index.js"),
    // The ES modules of the package: the names that a CommonJS file exports are unknown before it runs.
    mainFields: ["module", "main"],
    banner: { js: requireBanner }
  })
  await stop()
  const { version } = readManifest(inProject("node_modules", name))
  writeManifest(folder, { name, version, type: "module", exports: "./index.js" })
}

const writeManifest = (folder, manifest) =>
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`)

/**
 * Writes everything that the service needs to run to a folder, and nothing else: no packages for development, no embedded
 * PostgreSQL, no build tool. Deletes what the folder contains.
 */
export const writeRelease = async (target) => {
  rmSync(target, { recursive: true, force: true })
  mkdirSync(target, { recursive: true })
  const { engines, name, type, version } = readManifest(root)
  writeManifest(target, { name, version, private: true, type, engines })
  await buildProgram(join(target, "dist"), { local: false, sourcemap: false })
  copyPackage("sharp", target)
  await bundlePackage("@aws-sdk/client-s3", target)
}

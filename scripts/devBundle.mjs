import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { isBuiltin } from "node:module"
import { basename, join } from "node:path"
import { build, context } from "esbuild"
import { commonOptions, copyRuntimeFiles, replaceFile, requireBanner, unbundled } from "./bundle.mjs"
import { packagesMark } from "./packagesMark.mjs"
import { inProject } from "./project.mjs"

const folder = inProject(".cache", "dev")
const packagesFolder = join(folder, "packages")

const main = "main.js"

/** Starts everything, and restarts the processes when their program is built again. */
export const devLocal = join(folder, "local.js")

const fileOf = (specifier) => specifier.replaceAll("/", "__")

/** Leaves the packages out of the bundle: it imports them from `packagesFolder`, and `found` gets their names. */
const packagesBeside = (found) => ({
  name: "packages-beside",
  setup: ({ onResolve }) =>
    onResolve({ filter: /^[^./]/ }, ({ kind, path }) => {
      if (kind === "entry-point" || isBuiltin(path) || unbundled.includes(path)) return
      found.add(path)
      return { path: `./packages/${fileOf(path)}.js`, external: true }
    })
})

/** A module with the exports that Node gives to an importer, also of a CommonJS package. */
const reExport = async (specifier) => {
  const names = Object.keys(await import(specifier)).filter((name) => /^[A-Za-z_$][\w$]*$/.test(name))
  return [
    `import * as all from ${JSON.stringify(specifier)}`,
    ...names.map((name, index) => `const _${index} = all.${name}`),
    `export { ${names.map((name, index) => `_${index} as ${name}`).join(", ")} }`
  ].join("\n")
}

/** Bundles the packages on their own, once, since they seldom change and take most of the time. */
const bundlePackages = async (specifiers) => {
  const markFile = join(packagesFolder, "mark")
  const mark = [packagesMark(), ...specifiers].join("\n")
  if (existsSync(markFile) && readFileSync(markFile, "utf8") === mark) return
  rmSync(packagesFolder, { recursive: true, force: true })
  const entries = join(folder, "entries")
  mkdirSync(entries, { recursive: true })
  // As `.mjs`, esbuild treats imports of CommonJS packages as Node does.
  for (const specifier of specifiers)
    writeFileSync(join(entries, `${fileOf(specifier)}.mjs`), await reExport(specifier))
  await build({
    ...commonOptions,
    entryPoints: specifiers.map((specifier) => join(entries, `${fileOf(specifier)}.mjs`)),
    outdir: packagesFolder,
    splitting: true,
    external: unbundled,
    banner: { js: requireBanner }
  })
  writeFileSync(markFile, mark)
}

/** Returns the function that bundles the service for `npm run dev`. It reads only changed files again. */
export const openDevBundle = async () => {
  const found = new Set()
  const { rebuild } = await context({
    ...commonOptions,
    entryPoints: {
      pdf: inProject("src/layers/infra/pdf/worker.ts"),
      local: inProject("tools/local/main.ts"),
      main: inProject("src/main.ts")
    },
    outdir: folder,
    external: unbundled,
    plugins: [packagesBeside(found)],
    write: false
  })
  return async () => {
    const [{ outputFiles }] = await Promise.all([rebuild(), copyRuntimeFiles(folder)])
    await bundlePackages([...found].sort())
    // `main` last: its replacement restarts everything.
    const inOrder = [...outputFiles].sort((file) => (basename(file.path) === main ? 1 : -1))
    for (const { contents, path } of inOrder) replaceFile(path, (temporary) => writeFileSync(temporary, contents))
  }
}

import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import { promisify } from "node:util"
import { gzip } from "node:zlib"
import { build } from "esbuild"
import { inProject, root } from "./project.mjs"

/** The manifest names the files of the page. The server reads it once. */
const manifestName = "manifest.json"

/**
 * Bundles the console for browsers: the page's script and style, and a chunk for each screen. The names contain a hash of
 * the content, so that browsers may keep the files for ever.
 */
export const bundleConsole = async () => {
  const { metafile, outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: { main: inProject("src/console/main.tsx"), console: inProject("src/console/console.css") },
    outdir: "console",
    tsconfig: inProject("src/console/tsconfig.json"),
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "browser",
    target: ["es2022"],
    minify: true,
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    write: false,
    metafile: true,
    logLevel: "silent"
  })
  const entryOf = (source) =>
    basename(Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint === source)[0])
  const importsOf = (name) =>
    metafile.outputs[`console/${name}`].imports
      .filter(({ kind }) => kind === "import-statement")
      .map(({ path }) => basename(path))
  const script = entryOf("src/console/main.tsx")
  return {
    files: outputFiles.map(({ contents, path }) => ({ name: basename(path), contents })),
    script,
    /** What the script imports before it can run. */
    preloads: importsOf(script),
    style: entryOf("src/console/console.css")
  }
}

/** Writes the compressed files of the console and their manifest to a folder, and deletes all others. */
export const writeConsole = async (folder) => {
  const { files, ...page } = await bundleConsole()
  mkdirSync(folder, { recursive: true })
  const written = await Promise.all(
    files.map(async ({ contents, name }) => {
      writeFileSync(join(folder, `${name}.gz`), await promisify(gzip)(contents, { level: 9 }))
      return `${name}.gz`
    })
  )
  // Atomic and last: a process that starts meanwhile reads the old manifest or the new one, and finds its files.
  const manifest = join(folder, `${manifestName}.${process.pid}`)
  writeFileSync(manifest, JSON.stringify({ ...page, files: files.map(({ name }) => name) }))
  renameSync(manifest, join(folder, manifestName))
  for (const name of readdirSync(folder))
    if (![...written, manifestName].includes(name)) rmSync(join(folder, name), { force: true })
}

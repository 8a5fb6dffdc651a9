import { copyFileSync, mkdirSync, readdirSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { build, stop } from "esbuild"
import { writeConsole } from "./consoleBundle.mjs"
import { viewerFile } from "./docsViewer.mjs"
import { packagesMark } from "./packagesMark.mjs"
import { inProject, root } from "./project.mjs"

/** Bundled CommonJS packages call `require`, which ES modules lack. */
export const requireBanner =
  'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);'

/**
 * pg-native is optional and not installed. sharp has native code. The S3 client is rarely used and would slow down every
 * start; an installation without packages for development has none.
 */
export const unbundled = ["pg-native", "sharp", "@aws-sdk/client-s3"]

/** Options of every bundle. */
export const commonOptions = {
  absWorkingDir: root,
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20",
  logLevel: "silent"
}

/** A single file starts several times faster than the thousand files of the packages. */
const selfContainedOptions = () => ({
  banner: { js: `${packagesMark()}\n${requireBanner}` },
  external: unbundled
})

/** Atomic: a process that starts meanwhile reads the old file or the new one, never a part. */
export const replaceFile = (path, write) => {
  const temporary = `${path}.${process.pid}`
  write(temporary)
  renameSync(temporary, path)
}

/**
 * Copies files into a folder and deletes all others, because the service would also use leftovers of another version.
 */
const mirrorFolder = (source, names, target) => {
  mkdirSync(target, { recursive: true })
  for (const name of names) replaceFile(join(target, name), (path) => copyFileSync(join(source, name), path))
  for (const name of readdirSync(target)) if (!names.includes(name)) rmSync(join(target, name))
}

/** Copies the files that the bundle reads at run time. */
export const copyRuntimeFiles = async (folder) => {
  const migrations = inProject("src/layers/infra/postgres/migrations")
  mirrorFolder(migrations, readdirSync(migrations), join(folder, "migrations"))
  const fonts = inProject("node_modules/dejavu-fonts-ttf/ttf")
  mirrorFolder(fonts, ["DejaVuSans.ttf", "DejaVuSans-Bold.ttf"], join(folder, "fonts"))
  // PDFKit reads the profile of its colors from here.
  const colors = inProject("node_modules/pdfkit/js/data")
  mirrorFolder(colors, ["sRGB_IEC61966_2_1.icc"], join(folder, "data"))
  replaceFile(join(folder, basename(viewerFile)), (path) => copyFileSync(viewerFile, path))
  await writeConsole(join(folder, "console"))
}

const writeOutputs = (outputFiles, startedAt) => {
  for (const { contents, path } of outputFiles) {
    replaceFile(path, (temporary) => {
      writeFileSync(temporary, contents)
      // The start of the build: a source that changes during the build must look newer than the bundle.
      utimesSync(temporary, startedAt, startedAt)
    })
  }
}

/** Bundles our sources into one file; `selfContained` includes the packages. */
export const bundle = async (entry, outfile, { selfContained = false, sourcemap = true } = {}) => {
  const startedAt = new Date()
  const { outputFiles } = await build({
    ...commonOptions,
    entryPoints: [entry],
    outfile,
    sourcemap,
    sourcesContent: false,
    write: false,
    ...(selfContained ? selfContainedOptions() : { packages: "external" })
  })
  mkdirSync(dirname(outfile), { recursive: true })
  // Otherwise esbuild's helper process lives as long as this one.
  await stop()
  writeOutputs(outputFiles, startedAt)
}

const chunkPrefix = "chunk-"

/**
 * Bundles the service in chunks: a process loads those of the command that it runs. `local` is the program of `npm start`,
 * which a release lacks.
 */
export const bundleProgram = async (folder, { local = true, sourcemap }) => {
  const startedAt = new Date()
  const bundling = build({
    ...commonOptions,
    ...selfContainedOptions(),
    entryPoints: {
      main: "src/main.ts",
      pdf: "src/layers/infra/pdf/worker.ts",
      ...(local ? { local: "tools/local/main.ts" } : {})
    },
    outdir: folder,
    splitting: true,
    // Beside the program, because modules find the files that they read by their own address.
    chunkNames: `${chunkPrefix}[hash]`,
    sourcemap,
    sourcesContent: false,
    write: false
  })
  mkdirSync(folder, { recursive: true })
  const [{ outputFiles }] = await Promise.all([bundling, copyRuntimeFiles(folder)])
  await stop()
  // A program last: a process that starts meanwhile finds what it imports.
  const isChunk = (path) => basename(path).startsWith(chunkPrefix)
  writeOutputs(
    outputFiles.filter(({ path }) => isChunk(path)),
    startedAt
  )
  writeOutputs(
    outputFiles.filter(({ path }) => !isChunk(path)),
    startedAt
  )
  const written = new Set(outputFiles.map(({ path }) => basename(path)))
  for (const name of readdirSync(folder)) if (isChunk(name) && !written.has(name)) rmSync(join(folder, name))
}

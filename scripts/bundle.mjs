import { copyFileSync, mkdirSync, readdirSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { build, context, stop } from "esbuild"
import { packagesMark } from "./packagesMark.mjs"
import { inProject, root } from "./project.mjs"

/** A single file starts several times faster than the thousand files of the packages. */
const selfContainedOptions = () => ({
  // Bundled CommonJS packages call `require`, which ES modules lack.
  banner: {
    js: `${packagesMark()}\nimport { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);`
  },
  // pg-native is optional and not installed. sharp has native code. The S3 client is rarely used and would slow down
  // every start.
  external: ["pg-native", "sharp", "@aws-sdk/client-s3"]
})

/** Atomic: a process that starts meanwhile reads the old file or the new one, never a part. */
const replaceFile = (path, write) => {
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
const copyRuntimeFiles = (folder) => {
  const migrations = inProject("src/layers/postgres/migrations")
  mirrorFolder(migrations, readdirSync(migrations), join(folder, "migrations"))
  const fonts = inProject("node_modules/dejavu-fonts-ttf/ttf")
  mirrorFolder(fonts, ["DejaVuSans.ttf", "DejaVuSans-Bold.ttf"], join(folder, "fonts"))
}

const optionsOf = (entry, outfile, { selfContained, sourcemap }) => ({
  absWorkingDir: root,
  entryPoints: [entry],
  outfile,
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20",
  sourcemap,
  sourcesContent: false,
  logLevel: "silent",
  write: false,
  ...(selfContained ? selfContainedOptions() : { packages: "external" })
})

const writeBundle = (outfile, outputFiles, startedAt) => {
  mkdirSync(dirname(outfile), { recursive: true })
  copyRuntimeFiles(dirname(outfile))
  for (const { contents, path } of outputFiles) {
    replaceFile(path, (temporary) => {
      writeFileSync(temporary, contents)
      // The start of the build: a source that changes during the build must look newer than the bundle.
      utimesSync(temporary, startedAt, startedAt)
    })
  }
}

/** Bundles our sources into one file; `selfContained` includes the packages. */
export const bundle = async (entry, outfile, { selfContained = false } = {}) => {
  const startedAt = new Date()
  const { outputFiles } = await build(optionsOf(entry, outfile, { selfContained, sourcemap: true }))
  // Otherwise esbuild's helper process lives as long as this one.
  await stop()
  writeBundle(outfile, outputFiles, startedAt)
}

/**
 * Opens a self-contained bundle that is built again and again. It reads only changed files again, and writes no source
 * map, which takes half of the time.
 */
export const openBundle = async (entry, outfile) => {
  const options = optionsOf(entry, outfile, { selfContained: true, sourcemap: false })
  const { rebuild } = await context({ ...options, metafile: true })
  let inputs
  const build = async () => {
    // After a failure unknown: the file that is missing may be a new one.
    inputs = undefined
    const result = await rebuild()
    inputs = Object.keys(result.metafile.inputs).map((name) => inProject(name))
    return result.outputFiles
  }
  // The first build reads all packages, so that the next ones are faster. They report an error if it remains.
  await build().catch(() => {})
  return {
    outfile,
    /** Whether one of the files in the bundle satisfies a condition. */
    includes: (condition) => inputs === undefined || inputs.some(condition),
    build: async () => {
      const startedAt = new Date()
      writeBundle(outfile, await build(), startedAt)
    }
  }
}

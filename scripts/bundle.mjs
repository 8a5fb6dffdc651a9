import { copyFileSync, mkdirSync, readdirSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { build, stop } from "esbuild"
import { packagesMark } from "./packagesMark.mjs"
import { inProject, root } from "./project.mjs"

/** One file starts several times faster than the thousand that the packages consist of. */
const selfContainedOptions = () => ({
  // CommonJS packages inside an ES module still ask for `require`.
  banner: {
    js: `${packagesMark()}\nimport { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);`
  },
  // An optional part of the PostgreSQL driver that is not installed, one that is not all JavaScript, and one that few
  // load and that would slow every start.
  external: ["pg-native", "sharp", "@aws-sdk/client-s3"]
})

/** A process that starts meanwhile reads either the old file or the new one, never half of it. */
const replace = (path, write) => {
  const unfinished = `${path}.${process.pid}`
  write(unfinished)
  renameSync(unfinished, path)
}

/** Puts copies of files into a folder, and nothing else: one left from another state of the sources would be used too. */
const mirror = (source, names, target) => {
  mkdirSync(target, { recursive: true })
  for (const name of names) replace(join(target, name), (path) => copyFileSync(join(source, name), path))
  for (const name of readdirSync(target)) if (!names.includes(name)) rmSync(join(target, name))
}

/** Files that are read beside the bundle at run time. */
const mirrorFiles = (folder) => {
  const migrations = inProject("src/layers/postgres/migrations")
  mirror(migrations, readdirSync(migrations), join(folder, "migrations"))
  const fonts = inProject("node_modules/dejavu-fonts-ttf/ttf")
  mirror(fonts, ["DejaVuSans.ttf", "DejaVuSans-Bold.ttf"], join(folder, "fonts"))
}

/** Bundles our own sources into one file, together with the packages when it is to be self-contained. */
export const bundle = async (entry, outfile, { selfContained = false } = {}) => {
  const began = new Date()
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    sourcemap: true,
    sourcesContent: false,
    logLevel: "silent",
    write: false,
    ...(selfContained ? selfContainedOptions() : { packages: "external" })
  })
  // Its helper process would otherwise stay as long as we do.
  await stop()
  mkdirSync(dirname(outfile), { recursive: true })
  mirrorFiles(dirname(outfile))
  for (const { contents, path } of outputFiles) {
    replace(path, (unfinished) => {
      writeFileSync(unfinished, contents)
      // As old as the sources it was made of: one edited while we built must look newer.
      utimesSync(unfinished, began, began)
    })
  }
}

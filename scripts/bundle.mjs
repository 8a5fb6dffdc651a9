import { cpSync, mkdirSync, renameSync, utimesSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { build, stop } from "esbuild"
import { inProject, root } from "./project.mjs"

/**
 * Bundles our own sources into one file; packages stay where npm put them. A process that starts meanwhile reads
 * either the old file or the new one, never half of it.
 */
export const bundle = async (entry, outfile) => {
  const began = new Date()
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    packages: "external",
    sourcemap: true,
    sourcesContent: false,
    logLevel: "silent",
    write: false
  })
  // Its helper process would otherwise stay as long as we do.
  await stop()
  mkdirSync(dirname(outfile), { recursive: true })
  cpSync(inProject("src/layers/sql/migrations"), join(dirname(outfile), "migrations"), { recursive: true })
  for (const { contents, path } of outputFiles) {
    const unfinished = `${path}.${process.pid}`
    writeFileSync(unfinished, contents)
    // As old as the sources it was made of: one edited while we built must look newer.
    utimesSync(unfinished, began, began)
    renameSync(unfinished, path)
  }
}

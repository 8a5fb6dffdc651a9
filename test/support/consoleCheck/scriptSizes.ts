import { gzipSync } from "node:zlib"
import type { bundleConsole } from "../../../scripts/consoleBundle.mjs"

/** In bytes, compressed: of all scripts, and of those that run before the page shows something. */
export const maxScriptBytes = { all: 80_000, firstPaint: 50_000 }

type Bundle = Awaited<ReturnType<typeof bundleConsole>>

/** The sizes of the scripts of a bundle, as browsers load them. */
export const measureScripts = ({ files, preloads, script }: Bundle) => {
  const sizeOf = (names: ReadonlyArray<string>) =>
    files
      .filter(({ name }) => names.includes(name))
      .reduce((sum, { contents }) => sum + gzipSync(contents, { level: 9 }).length, 0)
  return {
    all: sizeOf(files.map(({ name }) => name).filter((name) => name.endsWith(".js"))),
    firstPaint: sizeOf([script, ...preloads])
  }
}

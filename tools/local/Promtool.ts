import { accessSync, constants } from "node:fs"
import { delimiter, join } from "node:path"
import { Data, Effect } from "effect"
import { debianSource, fetchProgram, homebrewSource } from "./ProgramFetch.ts"
import { projectRoot } from "./ProjectRoot.ts"

const name = "promtool"
const cache = join(projectRoot, ".cache", name, `${process.platform}-${process.arch}`)

// The package itself stays uninstalled, because installing it starts a server.
const source =
  process.platform === "darwin" ? homebrewSource("prometheus", name) : debianSource("prometheus", "usr", "bin", name)

class NoPromtool extends Data.TaggedError("NoPromtool")<{ readonly reasons: ReadonlyArray<string> }> {
  override get message() {
    return `promtool cannot be had (${this.reasons.join("; ")}). Install Prometheus.`
  }
}

const isExecutable = (path: string) => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Finds promtool in PATH or in the project's cache, or downloads it into the cache. */
export const findPromtool = async () => {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== ""), cache]
  const found = folders.map((folder) => join(folder, name)).find(isExecutable)
  if (found !== undefined) return found
  return Effect.runPromise(
    fetchProgram(name, [source], cache).pipe(Effect.mapError(({ reasons }) => new NoPromtool({ reasons })))
  )
}

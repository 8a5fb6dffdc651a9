import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, statSync } from "node:fs"
import { dirname } from "node:path"
import { Effect } from "effect"
import { onDisk } from "../Disk.ts"

const longest = 10 * 1024 * 1024

const open = (file: string) => {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  if (existsSync(file) && statSync(file).size > longest) renameSync(file, `${file}.1`)
  return openSync(file, "a")
}

/** A descriptor to append to. A log that has grown long is set aside first; one older part is kept. */
export const openLog = (file: string) =>
  Effect.acquireRelease(
    onDisk(file, () => open(file)),
    (descriptor) => Effect.sync(() => closeSync(descriptor))
  )

/** The end of a log, to show beside a failure. */
export const lastLines = (file: string, count = 12) =>
  existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n").slice(-count).join("\n") : ""

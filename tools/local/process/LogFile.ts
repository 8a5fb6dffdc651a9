import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, statSync } from "node:fs"
import { dirname } from "node:path"
import { Effect } from "effect"
import { tryFileAccess } from "../FileAccess.ts"

const maxBytes = 10 * 1024 * 1024

const open = (file: string) => {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  if (existsSync(file) && statSync(file).size > maxBytes) renameSync(file, `${file}.1`)
  return openSync(file, "a")
}

/** Opens a log for appending. Rotates it first when it is too large, and keeps one older file. */
export const openLog = (file: string) =>
  Effect.acquireRelease(
    tryFileAccess(file, () => open(file)),
    (descriptor) => Effect.sync(() => closeSync(descriptor))
  )

/** The last lines of a log, for an error message. */
export const lastLines = (file: string, count = 12) =>
  existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n").slice(-count).join("\n") : ""

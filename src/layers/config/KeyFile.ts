import { randomUUID } from "node:crypto"
import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises"
import { dirname } from "node:path"
import { Effect } from "effect"

const isMissing = (cause: unknown) => cause instanceof Error && "code" in cause && cause.code === "ENOENT"
const isTaken = (cause: unknown) => cause instanceof Error && "code" in cause && cause.code === "EEXIST"

const read = (path: string) =>
  readFile(path, "utf8").catch((cause: unknown) => {
    if (isMissing(cause)) return undefined
    throw cause
  })

/** Whole or not at all: written aside, then linked into place, which fails when another process was first. */
const publish = async (path: string, text: string) => {
  await mkdir(dirname(path), { recursive: true })
  const draft = `${path}.${randomUUID()}`
  await writeFile(draft, text, { mode: 0o600 })
  try {
    await link(draft, path)
  } catch (cause) {
    if (!isTaken(cause)) throw cause
  } finally {
    await rm(draft)
  }
}

/** The text of a file that only its owner may read, made on first use; processes starting together get the same. */
export const keyFile = (path: string, make: () => Promise<string>) =>
  Effect.promise(async () => {
    const known = await read(path)
    if (known !== undefined) return known
    await publish(path, await make())
    return readFile(path, "utf8")
  })

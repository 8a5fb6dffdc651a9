import { randomUUID } from "node:crypto"
import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises"
import { dirname } from "node:path"
import { Effect } from "effect"

const isMissing = (cause: unknown) => cause instanceof Error && "code" in cause && cause.code === "ENOENT"
const isExisting = (cause: unknown) => cause instanceof Error && "code" in cause && cause.code === "EEXIST"

const read = (path: string) =>
  readFile(path, "utf8").catch((cause: unknown) => {
    if (isMissing(cause)) return undefined
    throw cause
  })

/** Atomic: writes a temporary file, then links it to the path. The link fails when another process was faster. */
const publish = async (path: string, text: string) => {
  await mkdir(dirname(path), { recursive: true })
  const temporary = `${path}.${randomUUID()}`
  await writeFile(temporary, text, { mode: 0o600 })
  try {
    await link(temporary, path)
  } catch (cause) {
    if (!isExisting(cause)) throw cause
  } finally {
    await rm(temporary)
  }
}

/**
 * Reads a file that only its owner can read, and creates it on first use. Processes that start concurrently read the
 * same text.
 */
export const loadOrCreateKeyFile = (path: string, generate: () => Promise<string>) =>
  Effect.promise(async () => {
    const existing = await read(path)
    if (existing !== undefined) return existing
    await publish(path, await generate())
    return readFile(path, "utf8")
  })

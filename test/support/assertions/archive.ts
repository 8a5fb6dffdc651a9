import { createHash } from "node:crypto"
import { buffer } from "node:stream/consumers"
import { promisify } from "node:util"
import { type Entry, fromBuffer, type ZipFile } from "yauzl"

/** Reads an archive with another library than the one that wrote it. Returns its files in their order. */
export const unpack = async (bytes: Buffer): Promise<ReadonlyMap<string, Buffer>> => {
  const zip = await promisify<Buffer, object, ZipFile>(fromBuffer)(bytes, { lazyEntries: true })
  const files = new Map<string, Buffer>()
  await new Promise<void>((resolve, reject) => {
    const read = (entry: Entry) =>
      zip.openReadStream(entry, (error, stream) => {
        if (error) return reject(error)
        buffer(stream).then((content) => {
          files.set(entry.fileName, content)
          zip.readEntry()
        }, reject)
      })
    zip.on("entry", read).on("end", resolve).on("error", reject)
    zip.readEntry()
  })
  return files
}

export const checksumOf = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex")

/** The rows of a file with one JSON object per line. */
export const rowsOf = (files: ReadonlyMap<string, Buffer>, kind: string): ReadonlyArray<Record<string, unknown>> =>
  (files.get(`data/${kind}.jsonl`) ?? Buffer.alloc(0))
    .toString()
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line))

import { createHash } from "node:crypto"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { debianSource, fetchProgram, homebrewSource, type ProgramSource } from "../ProgramFetch.ts"

const download = async (url: string) => {
  const response = await fetch(url, { signal: AbortSignal.timeout(300_000) })
  if (!response.ok) throw new Error(`${url} returned ${response.status}`)
  return Buffer.from(await response.arrayBuffer())
}

const release: ProgramSource = {
  name: "release archive",
  fetchProgram: async (folder, execute) => {
    const version = "v2.11.17"
    const base = `https://github.com/nats-io/nats-server/releases/download/${version}`
    const name = `nats-server-${version}-${process.platform}-${process.arch === "x64" ? "amd64" : process.arch}`
    const archive = await download(`${base}/${name}.tar.gz`)
    const sums = (await download(`${base}/SHA256SUMS`)).toString()
    const sum = createHash("sha256").update(archive).digest("hex")
    if (!sums.includes(`${sum}  ${name}.tar.gz`)) throw new Error(`${name}.tar.gz does not match its checksum`)
    writeFileSync(join(folder, "archive.tar.gz"), archive)
    await execute("tar", "-xzf", "archive.tar.gz")
    return join(folder, name, "nats-server")
  }
}

const packaged =
  process.platform === "darwin"
    ? homebrewSource("nats-server", "nats-server")
    : debianSource("nats-server", "usr", "sbin", "nats-server")

/** Fetches a nats-server into the cache from the first source that succeeds. */
export const fetchNats = (cache: string) => fetchProgram("nats-server", [packaged, release], cache)

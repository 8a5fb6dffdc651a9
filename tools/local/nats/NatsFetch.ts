import { writeFileSync } from "node:fs"
import { join } from "node:path"
import {
  debianFileSource,
  debianSource,
  download,
  fetchProgram,
  homebrewSource,
  type ProgramSource,
  sha256Of
} from "../ProgramFetch.ts"

const release: ProgramSource = {
  name: "release archive",
  fetchProgram: async (folder, execute) => {
    const version = "v2.11.17"
    const base = `https://github.com/nats-io/nats-server/releases/download/${version}`
    const name = `nats-server-${version}-${process.platform}-${process.arch === "x64" ? "amd64" : process.arch}`
    const archive = await download(`${base}/${name}.tar.gz`)
    const sums = (await download(`${base}/SHA256SUMS`)).toString()
    if (!sums.includes(`${sha256Of(archive)}  ${name}.tar.gz`))
      throw new Error(`${name}.tar.gz does not match its checksum`)
    writeFileSync(join(folder, "archive.tar.gz"), archive)
    await execute("tar", "-xzf", "archive.tar.gz")
    return join(folder, name, "nats-server")
  }
}

const programPath = ["usr", "sbin", "nats-server"]
const packageName = "nats-server_2.10.27-1+b2"

/** The package of Debian 13, which also runs on Debian 12: its own is too old for a cluster. */
const debianFiles = (
  [
    ["x64", "amd64", "6d913ac987b78734c08537c2adeb1526cf735f216173a9170d94b185fcfe6f8a"],
    ["arm64", "arm64", "0c9a617510b28c1b4fb4a38aabea6ab8cd7f026247f2abdff8b955b2278ce049"]
  ] as const
)
  .filter(([processor]) => processor === process.arch)
  .map(([, architecture, sha256]) => {
    const url = `http://deb.debian.org/debian/pool/main/n/nats-server/${packageName}_${architecture}.deb`
    return debianFileSource({ url, sha256 }, ...programPath)
  })

const sources =
  process.platform === "darwin"
    ? [homebrewSource("nats-server", "nats-server"), release]
    : [...debianFiles, release, debianSource("nats-server", ...programPath)]

/** Fetches a nats-server into the cache from the first source that succeeds. */
export const fetchNats = (cache: string) => fetchProgram("nats-server", sources, cache)

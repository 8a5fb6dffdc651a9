import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { Data, Effect } from "effect"
import { reasonOf } from "../FileAccess.ts"

export class FetchFailed extends Data.TaggedError("FetchFailed")<{ readonly reasons: ReadonlyArray<string> }> {}

type Execute = (command: string, ...args: ReadonlyArray<string>) => Promise<string>

/** Fetches the program into the folder, where its commands run, and returns its path. */
interface Source {
  readonly name: string
  readonly fetchProgram: (folder: string, execute: Execute) => Promise<string>
}

const executeIn =
  (cwd: string, signal: AbortSignal): Execute =>
  async (command, ...args) => {
    const limits = { timeout: 300_000, maxBuffer: 64 * 1024 * 1024 }
    const { stdout } = await promisify(execFile)(command, args, { cwd, signal, ...limits })
    return stdout.trim()
  }

/** Requires no root: it installs nothing. When the system's package lists are missing or old, it downloads its own. */
const debian: Source = {
  name: "apt-get",
  fetchProgram: async (folder, execute) => {
    const inFolder = (...parts: ReadonlyArray<string>) => {
      mkdirSync(join(folder, ...parts), { recursive: true })
      return join(folder, parts[0] ?? "")
    }
    const sandboxUser = process.getuid?.() === 0 ? ["-o", "APT::Sandbox::User=root"] : []
    // By default apt-get waits for minutes behind a firewall that drops packets.
    const timeouts = ["http::Timeout=5", "https::Timeout=5", "Retries=1"].flatMap((name) => ["-o", `Acquire::${name}`])
    const common = [...sandboxUser, ...timeouts, "-o", `Dir::Cache=${inFolder("cache", "archives", "partial")}`]
    const ownLists = [...common, "-o", `Dir::State::lists=${inFolder("lists", "partial")}`]
    await execute("apt-get", ...common, "download", "nats-server").catch(async () => {
      await execute("apt-get", ...ownLists, "update")
      await execute("apt-get", ...ownLists, "download", "nats-server")
    })
    await execute("sh", "-c", "dpkg-deb -x nats-server*.deb unpacked")
    return join(folder, "unpacked", "usr", "sbin", "nats-server")
  }
}

const homebrew: Source = {
  name: "brew",
  fetchProgram: async (_, execute) => {
    await execute("brew", "install", "nats-server")
    return join(await execute("brew", "--prefix"), "bin", "nats-server")
  }
}

const download = async (url: string) => {
  const response = await fetch(url, { signal: AbortSignal.timeout(300_000) })
  if (!response.ok) throw new Error(`${url} returned ${response.status}`)
  return Buffer.from(await response.arrayBuffer())
}

const release: Source = {
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

const sources = [...(process.platform === "darwin" ? [homebrew] : [debian]), release]

/** The rename is atomic, so that two concurrent downloads both end with a complete program. */
const moveToCache = (cache: string, program: string) => {
  const temporary = join(cache, `unfinished-${process.pid}`)
  mkdirSync(cache, { recursive: true })
  copyFileSync(program, temporary)
  chmodSync(temporary, 0o755)
  renameSync(temporary, join(cache, "nats-server"))
  return join(cache, "nats-server")
}

const fetchFrom = (source: Source, cache: string) =>
  Effect.tryPromise({
    try: async (signal) => {
      const folder = mkdtempSync(join(tmpdir(), "contracting-fetch-"))
      try {
        return moveToCache(cache, await source.fetchProgram(folder, executeIn(folder, signal)))
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    },
    catch: (cause) => `${source.name}: ${reasonOf(cause).trim().split("\n").slice(-1).join("")}`
  })

/** Fetches a nats-server into the cache from the first source that succeeds. */
export const fetchNats = (cache: string) =>
  Effect.validateFirst(sources, (source) => fetchFrom(source, cache)).pipe(
    Effect.mapError((reasons) => new FetchFailed({ reasons }))
  )

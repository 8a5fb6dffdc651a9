import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { Data, Effect } from "effect"
import { reasonOf } from "./FileAccess.ts"

export class FetchFailed extends Data.TaggedError("FetchFailed")<{ readonly reasons: ReadonlyArray<string> }> {}

type Execute = (command: string, ...args: ReadonlyArray<string>) => Promise<string>

/** Fetches a program into the folder, where its commands run, and returns its path. */
export interface ProgramSource {
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

export const download = async (url: string) => {
  const response = await fetch(url, { signal: AbortSignal.timeout(300_000) })
  if (!response.ok) throw new Error(`${url} returned ${response.status}`)
  return Buffer.from(await response.arrayBuffer())
}

export const sha256Of = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex")

interface DebianFile {
  readonly url: string
  readonly sha256: string
}

/** A program of one file of Debian's archive, for what the system's own release has too old. */
export const debianFileSource = (file: DebianFile, ...programPath: ReadonlyArray<string>): ProgramSource => ({
  name: "Debian's archive",
  fetchProgram: async (folder, execute) => {
    const bytes = await download(file.url)
    if (sha256Of(bytes) !== file.sha256) throw new Error(`${file.url} does not match its checksum`)
    writeFileSync(join(folder, "package.deb"), bytes)
    await execute("dpkg-deb", "-x", "package.deb", "unpacked")
    return join(folder, "unpacked", ...programPath)
  }
})

/**
 * A program of a Debian package, such as `usr/bin/name`. Requires no root: it installs nothing. When the system's package
 * lists are missing or old, it downloads its own.
 */
export const debianSource = (packageName: string, ...programPath: ReadonlyArray<string>): ProgramSource => ({
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
    await execute("apt-get", ...common, "download", packageName).catch(async () => {
      await execute("apt-get", ...ownLists, "update")
      await execute("apt-get", ...ownLists, "download", packageName)
    })
    await execute("sh", "-c", `dpkg-deb -x ${packageName}*.deb unpacked`)
    return join(folder, "unpacked", ...programPath)
  }
})

/** The program of a formula of Homebrew, which installs it. */
export const homebrewSource = (formula: string, program: string): ProgramSource => ({
  name: "brew",
  fetchProgram: async (_, execute) => {
    await execute("brew", "install", formula)
    return join(await execute("brew", "--prefix"), "bin", program)
  }
})

/** The rename is atomic, so that two concurrent downloads both end with a complete program. */
const moveToCache = (cache: string, name: string, program: string) => {
  const temporary = join(cache, `unfinished-${process.pid}`)
  mkdirSync(cache, { recursive: true })
  copyFileSync(program, temporary)
  chmodSync(temporary, 0o755)
  renameSync(temporary, join(cache, name))
  return join(cache, name)
}

const fetchFrom = (source: ProgramSource, cache: string, name: string) =>
  Effect.tryPromise({
    try: async (signal) => {
      const folder = mkdtempSync(join(tmpdir(), "contracting-fetch-"))
      try {
        return moveToCache(cache, name, await source.fetchProgram(folder, executeIn(folder, signal)))
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    },
    catch: (cause) => `${source.name}: ${reasonOf(cause).trim().split("\n").slice(-1).join("")}`
  })

/** Fetches a program into the cache from the first source that succeeds. */
export const fetchProgram = (name: string, sources: ReadonlyArray<ProgramSource>, cache: string) =>
  Effect.validateFirst(sources, (source) => fetchFrom(source, cache, name)).pipe(
    Effect.mapError((reasons) => new FetchFailed({ reasons }))
  )

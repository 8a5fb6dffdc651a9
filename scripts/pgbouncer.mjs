import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { basename, delimiter, join } from "node:path"
import { inProject } from "./project.mjs"

const cacheFolder = inProject(".cache", "pgbouncer")

/** The first release that keeps named statements in transaction mode is 1.21; Debian 13 is the first one with it. */
const release = "trixie"
const packages = [
  ...["pgbouncer", "libc6", "libevent-2.1-7t64", "libcares2", "libssl3t64", "libpam0g", "libsystemd0"],
  ...["libcap2", "libaudit1", "libcap-ng0", "zlib1g", "libzstd1"]
]

const run = (command, args, options) =>
  execFileSync(command, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], ...options })

/** How to run PgBouncer; undefined when it does not run here, or is older than 1.21. */
const usable = (command, ...args) => {
  try {
    const [major = 0, minor = 0] = /PgBouncer (\d+)\.(\d+)/
      .exec(run(command, [...args, "--version"]))
      .slice(1)
      .map(Number)
    return major > 1 || minor >= 21 ? { command, args } : undefined
  } catch {
    return undefined
  }
}

/** With the libraries of its own release, because those of this machine may be older. */
const usableIn = (folder) => {
  const libraries = join(folder, "usr", "lib", `${process.arch === "arm64" ? "aarch64" : "x86_64"}-linux-gnu`)
  const loader = process.arch === "arm64" ? "ld-linux-aarch64.so.1" : "ld-linux-x86-64.so.2"
  return usable(join(libraries, loader), "--library-path", libraries, join(folder, "usr", "sbin", "pgbouncer"))
}

const onPath = () =>
  [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin"]
    .map((folder) => join(folder, "pgbouncer"))
    .filter((path) => existsSync(path))
    .map((path) => usable(path))
    .find((found) => found !== undefined)

export const findPgBouncer = () => onPath() ?? usableIn(cacheFolder)

/** Installs nothing: it downloads the packages and unpacks them. */
const fetchPackages = () => {
  mkdirSync(inProject(".cache"), { recursive: true })
  const folder = mkdtempSync(`${cacheFolder}-`)
  try {
    const inFolder = (...parts) => {
      mkdirSync(join(folder, ...parts), { recursive: true })
      return join(folder, parts[0])
    }
    const keyring = "/usr/share/keyrings/debian-archive-keyring.gpg"
    writeFileSync(
      join(folder, "sources.list"),
      `deb [signed-by=${keyring}] http://deb.debian.org/debian ${release} main\n`
    )
    const options = [
      ...["-o", `Dir::Etc::sourcelist=${join(folder, "sources.list")}`, "-o", "Dir::Etc::sourceparts=-"],
      ...["-o", `Dir::State::lists=${inFolder("lists", "partial")}`],
      ...["-o", `Dir::Cache=${inFolder("cache", "archives", "partial")}`, "-o", "Acquire::Retries=2"],
      ...(process.getuid?.() === 0 ? ["-o", "APT::Sandbox::User=root"] : [])
    ]
    run("apt-get", [...options, "update"], { cwd: folder })
    run("apt-get", [...options, "download", ...packages], { cwd: folder })
    const unpacked = inFolder("unpacked")
    for (const file of readdirSync(folder).filter((name) => name.endsWith(".deb")))
      run("dpkg-deb", ["-x", join(folder, file), unpacked])
    rmSync(cacheFolder, { recursive: true, force: true })
    renameSync(unpacked, cacheFolder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export const withoutPgBouncer = "no PgBouncer 1.21 or newer was found: install it to run these tests"

/** Finds PgBouncer, or downloads it on a system with apt-get. */
export const installPgBouncer = () => {
  const found = findPgBouncer()
  if (found !== undefined) return found
  try {
    fetchPackages()
  } catch (error) {
    throw new Error(`${withoutPgBouncer} (${error.message})`)
  }
  const fetched = findPgBouncer()
  if (fetched === undefined) throw new Error(withoutPgBouncer)
  return fetched
}

// As a program: exits with 1 when there is no PgBouncer. Tests bundle this file, so its address says nothing.
if (basename(process.argv[1] ?? "") === "pgbouncer.mjs") {
  try {
    const { args, command } = installPgBouncer()
    process.stdout.write(`PgBouncer for the tests: ${args.at(-1) ?? command}\n`)
  } catch (error) {
    process.stderr.write(`${error.message}\n`)
    process.exitCode = 1
  }
}

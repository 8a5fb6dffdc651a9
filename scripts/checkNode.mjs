import { spawn } from "node:child_process"
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { parseArgs } from "node:util"
import { bundledNpmOf, chooseChecks, formatTable, nodePackageOf, testCountsIn, warningsIn } from "./nodeVersions.mjs"
import { during } from "./progress.mjs"
import { npm, orExplain, root } from "./project.mjs"

const helpText = `npm run check:node                       npm start and npm test in a fresh clone, with every supported Node.js
npm run check:node -- --only 22          only with this version; may be repeated
npm run check:node -- --command start    only this command; may be repeated

It checks the last commit. Node.js and npm come from the npm registry.`

const maxStartMs = 10 * 60_000

// What `npm run` tells its scripts is about this checkout and this Node.js. Settings of the service are left out too.
const {
  DATABASE_URL: _1,
  NATS_URL: _2,
  DATA_DIR: _3,
  NODE: _4,
  NODE_OPTIONS: _5,
  INIT_CWD: _6,
  ...others
} = process.env
const isKept = (name) => !name.startsWith("npm_") || ["npm_config_registry", "npm_config_cache"].includes(name)
const outerEnv = Object.fromEntries(Object.entries(others).filter(([name]) => isKept(name)))

/**
 * Starts a program as the leader of a process group, as a terminal does, and collects what it prints; in a file too, if
 * there is one.
 */
const start = (command, args, { logFile, ...options }) => {
  const child = spawn(command, args, { env: outerEnv, ...options, stdio: ["ignore", "pipe", "pipe"], detached: true })
  let output = ""
  const collect = (data) => {
    output += data
    if (logFile !== undefined) appendFileSync(logFile, data)
  }
  for (const stream of [child.stdout, child.stderr]) stream.on("data", collect)
  const ended = new Promise((resolve, reject) => {
    child.once("error", reject)
    child.once("close", (code) => resolve(code))
  })
  const signal = (name) => child.exitCode === null && child.signalCode === null && process.kill(-child.pid, name)
  const stopWithUs = () => signal("SIGTERM")
  process.once("exit", stopWithUs)
  void ended.catch(() => {}).finally(() => process.removeListener("exit", stopWithUs))
  return { ended, signal, output: () => output }
}

const run = async (command, args, options) => {
  const { ended, output } = start(command, args, options)
  const code = await ended
  if (code !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${code}:\n${output()}`)
  return output()
}

const findFreePort = () =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })

/** Installs Node.js and the npm that comes with it into a folder, and returns an environment that has them in PATH. */
const installNode = async (major, folder) => {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, "package.json"), "{}")
  const nodePackage = nodePackageOf(process.platform, process.arch)
  const add = (name) => {
    const { command, args } = npm("install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", folder, name)
    return run(command, args, { cwd: folder })
  }
  await add(`${nodePackage}@${major}`)
  const npmVersion = bundledNpmOf(readFileSync(join(folder, "node_modules", nodePackage, "CHANGELOG.md"), "utf8"))
  await add(`npm@${npmVersion}`)
  const PATH = [join(folder, "node_modules", ".bin"), outerEnv.PATH].join(delimiter)
  const env = { ...outerEnv, PATH }
  const nodeVersion = (await run("node", ["--version"], { env })).trim().slice(1)
  return { env, nodeVersion, npmVersion }
}

const waitForReady = async ({ ended, output }) => {
  const startedAt = Date.now()
  let hasEnded = false
  void ended.then(() => (hasEnded = true))
  while (!output().includes("The service is ready.")) {
    if (hasEnded) throw new Error("npm start ended before the service was ready")
    if (Date.now() - startedAt > maxStartMs) throw new Error("npm start was not ready within ten minutes")
    await pause(100)
  }
}

/** The service answers, with a token from the command that `npm start` names. */
const createTenant = async (clone, env, base) => {
  const token = (await run("npm", ["run", "-s", "token", "--", "--sub", "alice"], { cwd: clone, env })).trim()
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
  const response = await fetch(`${base}/api/v1/tenants`, { method: "POST", headers, body: '{"name":"Harbour Works"}' })
  if (response.status !== 201) throw new Error(`POST /tenants returned ${response.status}: ${await response.text()}`)
}

const readLogs = (folder) =>
  readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), "utf8"))
    .join("\n")

const checkStart = async ({ clone, env, logFile }) => {
  const port = await findFreePort()
  const service = start("npm", ["start"], { cwd: clone, env: { ...env, PORT: String(port) }, logFile })
  try {
    await waitForReady(service)
    await createTenant(clone, env, `http://127.0.0.1:${port}`)
    service.signal("SIGINT")
    await service.ended
    if (!service.output().trimEnd().endsWith("Stopped")) throw new Error("npm start did not stop on Ctrl-C")
    return { result: "ready", warnings: warningsIn(service.output() + readLogs(join(clone, ".data", "logs"))) }
  } finally {
    service.signal("SIGTERM")
    await service.ended
  }
}

const checkTest = async ({ clone, env, logFile }) => {
  const { ended, output } = start("npm", ["test"], { cwd: clone, env, logFile })
  const code = await ended
  const counts = testCountsIn(output())
  if (code !== 0) throw new Error(counts ?? "no tests ran")
  return { result: counts, warnings: warningsIn(output()) }
}

const checks = { start: checkStart, test: checkTest }

/** Runs one command. A failure is a result too: the other versions are checked all the same. */
const check = async (command, nodeVersion, place) => {
  const startedAt = Date.now()
  const seconds = () => `${Math.round((Date.now() - startedAt) / 1000)} s`
  const label = `Node ${nodeVersion}: npm ${command}, output in ${place.logFile}`
  try {
    const { result, warnings } = await during(label, { quiet: false }, () => checks[command](place))
    return { cell: `${result}, ${seconds()}`, warnings, hasFailed: false }
  } catch (error) {
    process.stderr.write(`✗ ${label}: ${error.message}\n`)
    return { cell: `FAILED: ${error.message}, ${seconds()}`, warnings: [], hasFailed: true }
  }
}

const checkMajor = async (major, commands, folder) => {
  const { env, nodeVersion, npmVersion } = await during(`Node ${major}: download`, { quiet: false }, () =>
    installNode(major, join(folder, "node"))
  )
  const clone = join(folder, "clone")
  await run("git", ["clone", "--quiet", root, clone], { cwd: folder })
  const row = { Node: nodeVersion, npm: npmVersion }
  const results = []
  for (const command of commands) {
    const result = await check(command, nodeVersion, { clone, env, logFile: join(folder, `${command}.log`) })
    row[`npm ${command}`] = result.cell
    results.push(result)
  }
  const warnings = [...new Set(results.flatMap(({ warnings }) => warnings))]
  const hasFailed = results.some((result) => result.hasFailed)
  if (!hasFailed) rmSync(folder, { recursive: true, force: true })
  return { row: { ...row, warnings: warnings.length }, warnings, hasFailed }
}

const checkAll = async (options) => {
  const { majors, commands } = chooseChecks(options)
  const folder = mkdtempSync(join(tmpdir(), "contracting-node-"))
  const results = []
  for (const major of majors) {
    const majorFolder = join(folder, String(major))
    mkdirSync(majorFolder)
    results.push(await checkMajor(major, commands, majorFolder))
  }
  process.stdout.write(`\n${formatTable(results.map(({ row }) => row))}\n`)
  for (const { row, warnings } of results)
    for (const warning of warnings) process.stdout.write(`Node ${row.Node} warns: ${warning}\n`)
  const hasFailed = results.some((result) => result.hasFailed)
  if (hasFailed) process.exitCode = 1
  else rmSync(folder, { recursive: true, force: true })
}

const readOptions = () =>
  parseArgs({
    options: {
      help: { type: "boolean" },
      only: { type: "string", multiple: true },
      command: { type: "string", multiple: true }
    }
  }).values

const main = async () => {
  const { help, ...options } = readOptions()
  if (help) process.stdout.write(`${helpText}\n`)
  else await checkAll(options)
}

// A signal alone would skip the exit handlers, which stop the running command.
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1))
await orExplain(main())

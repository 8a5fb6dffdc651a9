import { randomBytes } from "node:crypto"
import { mkdirSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { Effect } from "effect"
import { build, stop } from "esbuild"
import { chooseStablePort, localhost } from "../src/layers/local/Ports.ts"
import { projectRoot } from "../src/layers/local/ProjectRoot.ts"
import { apiHeapOptions } from "../src/layers/local/process/HeapOptions.ts"
import { supervisedFlag } from "../src/layers/local/process/ParentWatch.ts"
import { caller } from "./caller.ts"
import { startServer } from "./serverProcess.ts"
import { type Stage, service } from "./stage.ts"

export const references = ["fastify", "bare"] as const

const bundleOf = (reference: string) => fileURLToPath(new URL(`references/${reference}.js`, import.meta.url))

/** Makes programs of sources in a folder, named without their ending; they lie beside us by the same names. */
export const bundleBeside = (names: ReadonlyArray<string>, folder = "bench") =>
  Effect.promise(async () => {
    await build({
      absWorkingDir: projectRoot,
      entryPoints: names.map((name) => `${folder}/${name}.ts`),
      outbase: folder,
      outdir: fileURLToPath(new URL(".", import.meta.url)),
      bundle: true,
      format: "esm",
      platform: "node",
      target: "node20",
      packages: "external",
      logLevel: "silent"
    })
    // Its helper process would otherwise stay beside the servers while they are measured.
    await stop()
  })

export const profiling = (folder: string | undefined) => {
  if (folder === undefined) return []
  mkdirSync(folder, { recursive: true })
  return ["--cpu-prof", `--cpu-prof-dir=${resolve(folder)}`]
}

interface Manifest {
  readonly scripts: { readonly api: string }
}

export interface Setting {
  readonly stage: Stage
  readonly jwksUrl: string
}

/** Connections each process has to the database. */
export const databasePool = 10

export const environmentOf = ({ jwksUrl, stage }: Setting) => ({
  NODE_ENV: "production",
  DATA_DIR: stage.folder,
  DATABASE_URL: stage.databaseUrl,
  DATABASE_POOL: String(databasePool),
  NATS_URL: stage.natsUrl,
  AUTH_JWKS_URL: jwksUrl,
  AUTH_ISSUER: caller.issuer,
  AUTH_AUDIENCE: caller.audience,
  SECRETS_KEY: randomBytes(32).toString("base64"),
  MAX_INVOICE_LINES: "20000",
  SHUTDOWN_DELAY_SECONDS: "0",
  [supervisedFlag]: "1"
})

const start = (
  setting: Setting,
  name: string,
  args: ReadonlyArray<string>,
  extra: NodeJS.ProcessEnv = {},
  heap: ReadonlyArray<string> = apiHeapOptions
) =>
  Effect.flatMap(chooseStablePort(join(setting.stage.folder, `${name}.port`)), (port) =>
    startServer({
      name,
      args: [...heap, ...args],
      env: { ...environmentOf(setting), ...extra, PORT: String(port) },
      base: `http://${localhost}:${port}`,
      logFile: setting.stage.logOf(name)
    })
  )

export const startService = (
  setting: Setting,
  profile: string | undefined,
  name = "service",
  extra: NodeJS.ProcessEnv = {}
) => start(setting, name, [...profiling(profile), service, "api"], extra)

/** The build of a checkout, with the flags that its own `npm run api` gives to Node.js. */
export const startBuild = (setting: Setting, name: string, checkout: string) => {
  const { scripts } = JSON.parse(readFileSync(join(checkout, "package.json"), "utf8")) as Manifest // npm's own form
  const flags = scripts.api.split(" ").filter((word) => word.startsWith("--"))
  return start(setting, name, [join(checkout, "dist", "main.js"), "api"], {}, flags)
}

/** The service and the references, each a process of its own with the same settings. */
export const startServers = (setting: Setting, profile: string | undefined) =>
  Effect.gen(function* () {
    yield* bundleBeside(references.map((name) => `references/${name}`))
    return [
      yield* startService(setting, profile),
      ...(yield* Effect.forEach(references, (name) => start(setting, name, [bundleOf(name)])))
    ]
  })

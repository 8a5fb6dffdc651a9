import { randomBytes } from "node:crypto"
import { mkdirSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { Effect } from "effect"
import { build, stop } from "esbuild"
import { supervisedFlag } from "../src/commands/ParentWatch.ts"
import { chooseStablePort, localhost } from "../tools/local/Ports.ts"
import { projectRoot } from "../tools/local/ProjectRoot.ts"
import { apiHeapOptions } from "../tools/local/process/HeapOptions.ts"
import { type Infrastructure, serviceProgram } from "./infrastructure.ts"
import { defaultReferences, type ReferenceName, type Row } from "./row.ts"
import { startServer } from "./serverProcess.ts"
import { benchCaller } from "./tokenIssuer.ts"

export const serviceName = "service"

const referenceProgram = (reference: ReferenceName) =>
  fileURLToPath(new URL(`references/${reference}.js`, import.meta.url))

/** Bundles entry points of a folder (without extension) beside this program. */
export const bundlePrograms = (names: ReadonlyArray<string>, folder = "bench") =>
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
    // Otherwise esbuild's helper process would run during the measurement.
    await stop()
  })

export const profileOptions = (folder: string | undefined) => {
  if (folder === undefined) return []
  mkdirSync(folder, { recursive: true })
  return ["--cpu-prof", `--cpu-prof-dir=${resolve(folder)}`]
}

interface PackageManifest {
  readonly scripts: { readonly api: string }
}

export interface BenchEnvironment {
  readonly infrastructure: Infrastructure
  readonly jwksUrl: string
}

/** Database connections per process. */
export const databasePoolSize = 10

/** One for all processes: none starts with another key than the database knows. */
const secretsKey = randomBytes(32).toString("base64")

export const makeProcessEnv = ({ jwksUrl, infrastructure }: BenchEnvironment) => ({
  NODE_ENV: "production",
  DATA_DIR: infrastructure.folder,
  DATABASE_URL: infrastructure.databaseUrl,
  DATABASE_POOL: String(databasePoolSize),
  NATS_URL: infrastructure.natsUrl,
  AUTH_JWKS_URL: jwksUrl,
  AUTH_ISSUER: benchCaller.issuer,
  AUTH_AUDIENCE: benchCaller.audience,
  SECRETS_KEY: secretsKey,
  MAX_INVOICE_LINES: "20000",
  SHUTDOWN_DELAY_SECONDS: "0",
  [supervisedFlag]: "1"
})

const startApi = (
  environment: BenchEnvironment,
  name: string,
  args: ReadonlyArray<string>,
  extraEnv: NodeJS.ProcessEnv = {},
  heapOptions: ReadonlyArray<string> = apiHeapOptions
) =>
  Effect.flatMap(chooseStablePort(join(environment.infrastructure.folder, `${name}.port`)), (port) =>
    startServer({
      name,
      args: [...heapOptions, ...args],
      env: { ...makeProcessEnv(environment), ...extraEnv, PORT: String(port) },
      baseUrl: `http://${localhost}:${port}`,
      logFile: environment.infrastructure.logFileOf(name),
      postmasterPid: environment.infrastructure.postmasterPid
    })
  )

export const startService = (
  environment: BenchEnvironment,
  profile: string | undefined,
  name = serviceName,
  extraEnv: NodeJS.ProcessEnv = {}
) => startApi(environment, name, [...profileOptions(profile), serviceProgram, "api"], extraEnv)

/** Starts the service with other options of Node.js. */
export const startServiceWith = (
  environment: BenchEnvironment,
  nodeOptions: ReadonlyArray<string>,
  extraEnv: NodeJS.ProcessEnv
) => startApi(environment, serviceName, [serviceProgram, "api"], extraEnv, nodeOptions)

/** Starts the build of a checkout with the Node.js options of its own `npm run api`. */
export const startBuild = (environment: BenchEnvironment, name: string, checkout: string) => {
  const { scripts } = JSON.parse(readFileSync(join(checkout, "package.json"), "utf8")) as PackageManifest // the format of package.json
  const nodeOptions = scripts.api.split(" ").filter((word) => word.startsWith("--"))
  return startApi(environment, name, [join(checkout, "dist", "main.js"), "api"], {}, nodeOptions)
}

/** Starts the service and the reference servers of the rows with the same settings. */
export const startServers = (environment: BenchEnvironment, rows: ReadonlyArray<Row>, profile: string | undefined) =>
  Effect.gen(function* () {
    const references = [...new Set(rows.flatMap(({ references = defaultReferences }) => references))]
    yield* bundlePrograms(references.map((name) => `references/${name}`))
    return [
      yield* startService(environment, profile),
      ...(yield* Effect.forEach(references, (name) => startApi(environment, name, [referenceProgram(name)])))
    ]
  })

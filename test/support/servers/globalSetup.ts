import { type ChildProcess, spawn } from "node:child_process"
import { dirname, join } from "node:path"
import { createInterface } from "node:readline"
import { Schema } from "effect"
import type { TestProject } from "vitest/node"
import { bundle } from "../../../scripts/bundle.mjs"
import { buildProgram, isBuilt, main } from "../../../scripts/prepare.mjs"
import { supervisedFlag } from "../../../src/commands/ParentWatch.ts"
import { projectRoot } from "../../../tools/local/ProjectRoot.ts"
import { prepareServer } from "./migratedTemplate.ts"

declare module "vitest" {
  export interface ProvidedContext {
    /** Superuser's address of the PostgreSQL server of this test run. */
    databaseUrl: string
    /** The same through PgBouncer, or without it if the run has none. */
    pooledUrl: string
    /** The addresses of all NATS servers of this run. */
    natsUrl: string
  }
}

const Addresses = Schema.parseJson(
  Schema.Struct({ databaseUrl: Schema.String, pooledUrl: Schema.String, natsUrl: Schema.String })
)

const launch = async () => {
  const program = join(projectRoot, "node_modules", ".cache", "test-servers", "main.js")
  await bundle("test/support/servers/postgresAndNats.ts", program, { selfContained: true })
  // Services in the processes of tests render documents with its thread.
  if (!isBuilt(main)) await buildProgram(dirname(main))
  return spawn(process.execPath, [program], {
    env: { ...process.env, [supervisedFlag]: "1" },
    stdio: ["pipe", "pipe", "inherit"],
    detached: true
  })
}

const addressesFrom = (child: ChildProcess) =>
  new Promise<typeof Addresses.Type>((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`The servers for the tests did not start (exit code ${code})`)))
    // Anything before is about a restart; the addresses come as the only line of JSON.
    createInterface(child.stdout ?? process.stdin).on("line", (line) => {
      if (line.startsWith("{")) resolve(Schema.decodeUnknownSync(Addresses)(line))
      else process.stderr.write(`${line}\n`)
    })
  })

/** PostgreSQL and NATS for the whole run, thrown away afterwards. */
export default async (project: Pick<TestProject, "provide">) => {
  const child = await launch()
  const ended = new Promise((resolve) => child.once("exit", resolve))
  const { databaseUrl, natsUrl, pooledUrl } = await addressesFrom(child)
  await prepareServer(databaseUrl)
  project.provide("databaseUrl", databaseUrl)
  project.provide("pooledUrl", pooledUrl)
  project.provide("natsUrl", natsUrl)
  return () => {
    child.kill("SIGTERM")
    return ended
  }
}

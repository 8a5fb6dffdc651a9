import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Data, Effect } from "effect"
import type pg from "pg"
import { findNatsProgram } from "../tools/local/nats/NatsPrograms.ts"
import { startNats } from "../tools/local/nats/NatsServer.ts"
import { projectRoot } from "../tools/local/ProjectRoot.ts"
import { startPostgres } from "../tools/local/postgres/Postgres.ts"
import { describeExit, runProgram } from "../tools/local/process/Child.ts"
import { lastLines } from "../tools/local/process/LogFile.ts"
import { describeDurability } from "./database.ts"
import { natsFolderIn, postgresFolderIn, temporaryFolder } from "./temporaryFolder.ts"

export const serviceProgram = join(projectRoot, "dist", "main.js")

export class InfrastructureFailed extends Data.TaggedError("StageFailed")<{ readonly message: string }> {}

export const migrate = (databaseUrl: string, logFile: string) =>
  runProgram({
    name: "migrate",
    command: process.execPath,
    args: [serviceProgram, "migrate"],
    env: { DATABASE_URL: databaseUrl },
    logFile,
    stop: [["SIGTERM", "10 seconds"]]
  }).pipe(
    Effect.filterOrFail(
      ({ code }) => code === 0,
      (exit) => new InfrastructureFailed({ message: `Migration: ${describeExit(exit)}\n${lastLines(logFile)}` })
    )
  )

/** The first line of a file that PostgreSQL writes. */
const readPostmasterPid = (folder: string) =>
  Number.parseInt(readFileSync(join(postgresFolderIn(folder), "data", "postmaster.pid"), "utf8"), 10)

/** Starts a durable PostgreSQL with all migrations and a NATS server, both removed with the scope. */
export const startInfrastructureWith = ({ maxConnections }: { readonly maxConnections: number }) =>
  Effect.gen(function* () {
    const { folder, logFileOf } = yield* temporaryFolder
    const postgres = yield* startPostgres({
      folder: postgresFolderIn(folder),
      logFile: logFileOf("postgres"),
      durable: true,
      maxConnections
    })
    const program = yield* findNatsProgram(process.env["NATS_SERVER_BIN"])
    const nats = yield* startNats({ folder: natsFolderIn(folder), logFile: logFileOf("nats"), program })
    yield* migrate(postgres.url, logFileOf("migrate"))
    return {
      folder,
      logFileOf,
      databaseUrl: postgres.url,
      natsUrl: nats.url,
      postmasterPid: readPostmasterPid(folder),
      postgresDescription: `PostgreSQL ${postgres.version} (${yield* describeDurability(postgres.url)})`
    }
  })

export const startInfrastructure = startInfrastructureWith({ maxConnections: 200 })

export type Infrastructure = Effect.Effect.Success<typeof startInfrastructure>

/** Creates another migrated database on the same server. */
export const createDatabase = (client: pg.Client, infrastructure: Infrastructure, name: string) =>
  Effect.gen(function* () {
    yield* Effect.promise(() => client.query(`create database ${name}`))
    const url = new URL(infrastructure.databaseUrl)
    url.pathname = `/${name}`
    yield* migrate(url.href, infrastructure.logFileOf(`migrate-${name}`))
    return url.href
  })

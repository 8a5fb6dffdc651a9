import { join } from "node:path"
import { Data, Effect } from "effect"
import type pg from "pg"
import { findNatsProgram } from "../src/layers/local/nats/NatsPrograms.ts"
import { startNats } from "../src/layers/local/nats/NatsServer.ts"
import { projectRoot } from "../src/layers/local/ProjectRoot.ts"
import { startPostgres } from "../src/layers/local/postgres/Postgres.ts"
import { describeExit, runProgram } from "../src/layers/local/process/Child.ts"
import { lastLines } from "../src/layers/local/process/LogFile.ts"
import { durability } from "./database.ts"
import { natsIn, postgresIn, temporaryFolder } from "./temporaryFolder.ts"

export const service = join(projectRoot, "dist", "main.js")

export class StageFailed extends Data.TaggedError("StageFailed")<{ readonly message: string }> {}

export const migrate = (databaseUrl: string, logFile: string) =>
  runProgram({
    name: "migrate",
    command: process.execPath,
    args: [service, "migrate"],
    env: { DATABASE_URL: databaseUrl },
    logFile,
    stop: [["SIGTERM", "10 seconds"]]
  }).pipe(
    Effect.filterOrFail(
      ({ code }) => code === 0,
      (ended) => new StageFailed({ message: `Migration: ${describeExit(ended)}\n${lastLines(logFile)}` })
    )
  )

/** Everything the servers share: a durable PostgreSQL with its tables and a NATS server, thrown away afterwards. */
export const setStageFor = ({ maxConnections }: { readonly maxConnections: number }) =>
  Effect.gen(function* () {
    const { folder, logFileOf } = yield* temporaryFolder
    const postgres = yield* startPostgres({
      folder: postgresIn(folder),
      logFile: logFileOf("postgres"),
      durable: true,
      maxConnections
    })
    const program = yield* findNatsProgram(process.env["NATS_SERVER_BIN"])
    const nats = yield* startNats({ folder: natsIn(folder), logFile: logFileOf("nats"), program })
    yield* migrate(postgres.url, logFileOf("migrate"))
    return {
      folder,
      logOf: logFileOf,
      databaseUrl: postgres.url,
      natsUrl: nats.url,
      postgres: `PostgreSQL ${postgres.version} (${yield* durability(postgres.url)})`
    }
  })

export const setStage = setStageFor({ maxConnections: 200 })

export type Stage = Effect.Effect.Success<typeof setStage>

/** Another database of the same server, with its tables. */
export const createDatabase = (client: pg.Client, stage: Stage, name: string) =>
  Effect.gen(function* () {
    yield* Effect.promise(() => client.query(`create database ${name}`))
    const url = new URL(stage.databaseUrl)
    url.pathname = `/${name}`
    yield* migrate(url.href, stage.logOf(`migrate-${name}`))
    return url.href
  })

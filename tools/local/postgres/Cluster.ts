import { randomBytes } from "node:crypto"
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync
} from "node:fs"
import { dirname, join } from "node:path"
import { Data, Effect } from "effect"
import { tryFileAccess } from "../FileAccess.ts"
import { describeExit, runProgram } from "../process/Child.ts"
import { lastLines } from "../process/LogFile.ts"
import { isRoot, type Launch, launchAs, launchAsCurrentUser, unprivilegedAccount } from "./Account.ts"
import type { PostgresPrograms } from "./PostgresPrograms.ts"

export const superuser = "contracting"

export class ClusterUnusable extends Data.TaggedError("ClusterUnusable")<{ readonly problem: string }> {
  override get message() {
    return this.problem
  }
}

/** The files of one PostgreSQL cluster: data, password of the superuser, port. */
export interface Cluster {
  readonly data: string
  readonly password: string
  readonly portFile: string
  readonly launch: Launch
}

interface Options {
  readonly folder: string
  readonly logFile: string
  /** False for a temporary cluster. */
  readonly durable: boolean
  readonly programs: PostgresPrograms
}

const ensurePasswordFile = (folder: string) => {
  const file = join(folder, "password")
  if (!existsSync(file)) writeFileSync(file, randomBytes(24).toString("hex"), { mode: 0o600 })
  return file
}

const runInitdb = (
  { durable, folder, logFile, programs }: Options,
  passwordFile: string,
  unfinished: string,
  launch: Launch
) =>
  runProgram({
    name: "initdb",
    ...launch(programs.initdb, [
      ...[`--pgdata=${unfinished}`, `--username=${superuser}`, `--pwfile=${passwordFile}`, "--auth=scram-sha-256"],
      // Many iterations protect short passwords. This one is random and long, and each connection would pay for them.
      ...["--encoding=UTF8", "--locale=C", "--set=scram_iterations=1", ...(durable ? [] : ["--no-sync"])]
    ]),
    env: programs.env,
    logFile,
    stop: [["SIGTERM", "5 seconds"]]
  }).pipe(
    Effect.filterOrFail(
      ({ code }) => code === 0,
      (ended) =>
        new ClusterUnusable({
          problem: `initdb could not create the data folder of PostgreSQL in ${folder} (${describeExit(ended)}). The end of ${logFile}:\n${lastLines(logFile)}`
        })
    )
  )

/** Renames the data folder to its final name only when it is complete. Leftovers of interrupted runs are deleted. */
const create = (options: Options, data: string, passwordFile: string) =>
  Effect.gen(function* () {
    const { folder, programs } = options
    const unfinished = join(folder, `unfinished-${randomBytes(4).toString("hex")}`)
    const account = isRoot ? yield* unprivilegedAccount : undefined
    yield* tryFileAccess(folder, () => {
      for (const name of readdirSync(folder))
        if (name.startsWith("unfinished-")) rmSync(join(folder, name), { recursive: true })
      mkdirSync(unfinished, { mode: 0o700 })
      if (account !== undefined)
        for (const path of [unfinished, passwordFile]) chownSync(path, account.uid, account.gid)
    })
    const launch =
      account === undefined ? yield* launchAsCurrentUser : yield* launchAs(account, programs.postgres, unfinished)
    yield* runInitdb(options, passwordFile, unfinished, launch)
    yield* tryFileAccess(data, () => renameSync(unfinished, data))
    return launch
  })

/** The account that owns an existing data folder keeps running it. */
const reopen = ({ programs }: Options, data: string) =>
  Effect.gen(function* () {
    const dataMajor = yield* tryFileAccess(data, () => readFileSync(join(data, "PG_VERSION"), "utf8").trim())
    if (dataMajor !== programs.major) {
      return yield* new ClusterUnusable({
        problem: `${data} was made by PostgreSQL ${dataMajor} and this is PostgreSQL ${programs.major}, which cannot read it. Move ${dirname(data)} away to start empty, or dump it with PostgreSQL ${dataMajor} and load the dump.`
      })
    }
    const { gid, uid } = yield* tryFileAccess(data, () => statSync(data))
    return isRoot ? yield* launchAs({ uid, gid }, programs.postgres, data) : yield* launchAsCurrentUser
  })

/** Opens the cluster in the folder, and creates it on first use. */
export const openCluster = (options: Options) =>
  Effect.gen(function* () {
    // The real path, because the search for an orphaned server compares it with the command line.
    const folder = yield* tryFileAccess(options.folder, () => {
      mkdirSync(options.folder, { recursive: true })
      return realpathSync(options.folder)
    })
    const data = join(folder, "data")
    const passwordFile = yield* tryFileAccess(folder, () => ensurePasswordFile(folder))
    const launch = existsSync(data)
      ? yield* reopen(options, data)
      : yield* create({ ...options, folder }, data, passwordFile)
    const password = yield* tryFileAccess(passwordFile, () => readFileSync(passwordFile, "utf8"))
    return { data, password, portFile: join(folder, "port"), launch } satisfies Cluster
  })

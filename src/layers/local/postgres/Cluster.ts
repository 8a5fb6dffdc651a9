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
import { onDisk } from "../Disk.ts"
import { describe, run } from "../process/Child.ts"
import { lastLines } from "../process/LogFile.ts"
import { type Launch, launchAs, launchAsIs, runsAsRoot, standIn } from "./Account.ts"
import type { PostgresPrograms } from "./PostgresPrograms.ts"

export const superuser = "contracting"

export class ClusterUnusable extends Data.TaggedError("ClusterUnusable")<{ readonly problem: string }> {
  override get message() {
    return this.problem
  }
}

/** A folder with everything of one PostgreSQL: its data, the superuser's password, the port it listens on. */
export interface Cluster {
  readonly data: string
  readonly password: string
  readonly portFile: string
  readonly launch: Launch
}

interface Place {
  readonly folder: string
  readonly logFile: string
  /** Off for a cluster that is thrown away anyway. */
  readonly durable: boolean
  readonly programs: PostgresPrograms
}

const passwordIn = (folder: string) => {
  const file = join(folder, "password")
  if (!existsSync(file)) writeFileSync(file, randomBytes(24).toString("hex"), { mode: 0o600 })
  return file
}

const initialise = (
  { durable, folder, logFile, programs }: Place,
  passwordFile: string,
  unfinished: string,
  launch: Launch
) =>
  run({
    name: "initdb",
    ...launch(programs.initdb, [
      ...[`--pgdata=${unfinished}`, `--username=${superuser}`, `--pwfile=${passwordFile}`, "--auth=scram-sha-256"],
      ...["--encoding=UTF8", "--locale=C", ...(durable ? [] : ["--no-sync"])]
    ]),
    env: programs.env,
    logFile,
    stop: [["SIGTERM", "5 seconds"]]
  }).pipe(
    Effect.filterOrFail(
      ({ code }) => code === 0,
      (ended) =>
        new ClusterUnusable({
          problem: `PostgreSQL's data folder could not be made in ${folder} (initdb: ${describe(ended)}). The end of ${logFile}:\n${lastLines(logFile)}`
        })
    )
  )

/** The data folder takes its name only once it is whole: what an interrupted attempt leaves is thrown away. */
const create = (place: Place, data: string, passwordFile: string) =>
  Effect.gen(function* () {
    const { folder, programs } = place
    const unfinished = join(folder, `unfinished-${randomBytes(4).toString("hex")}`)
    const account = runsAsRoot ? yield* standIn : undefined
    yield* onDisk(folder, () => {
      for (const name of readdirSync(folder))
        if (name.startsWith("unfinished-")) rmSync(join(folder, name), { recursive: true })
      mkdirSync(unfinished, { mode: 0o700 })
      if (account !== undefined)
        for (const path of [unfinished, passwordFile]) chownSync(path, account.uid, account.gid)
    })
    const launch = account === undefined ? yield* launchAsIs : yield* launchAs(account, programs.postgres, unfinished)
    yield* initialise(place, passwordFile, unfinished, launch)
    yield* onDisk(data, () => renameSync(unfinished, data))
    return launch
  })

/** An existing data folder stays with the account that owns it. */
const reopen = ({ programs }: Place, data: string) =>
  Effect.gen(function* () {
    const made = yield* onDisk(data, () => readFileSync(join(data, "PG_VERSION"), "utf8").trim())
    if (made !== programs.major) {
      return yield* new ClusterUnusable({
        problem: `${data} was made by PostgreSQL ${made} and this is PostgreSQL ${programs.major}, which cannot read it. Move ${dirname(data)} away to start empty, or dump it with PostgreSQL ${made} and load the dump.`
      })
    }
    const { gid, uid } = yield* onDisk(data, () => statSync(data))
    return runsAsRoot ? yield* launchAs({ uid, gid }, programs.postgres, data) : yield* launchAsIs
  })

/** Opens the cluster in the folder, after making it when there is none. */
export const openCluster = (place: Place) =>
  Effect.gen(function* () {
    // One spelling of the path, by which a server left behind is recognised later.
    const folder = yield* onDisk(place.folder, () => {
      mkdirSync(place.folder, { recursive: true })
      return realpathSync(place.folder)
    })
    const data = join(folder, "data")
    const passwordFile = yield* onDisk(folder, () => passwordIn(folder))
    const launch = existsSync(data)
      ? yield* reopen(place, data)
      : yield* create({ ...place, folder }, data, passwordFile)
    const password = yield* onDisk(passwordFile, () => readFileSync(passwordFile, "utf8"))
    return { data, password, portFile: join(folder, "port"), launch } satisfies Cluster
  })

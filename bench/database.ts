import { Effect } from "effect"
import pg from "pg"

/** A connection of the bench's own, beside those of the servers. */
export const connectDatabase = (connectionString: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const client = new pg.Client({ connectionString })
      await client.connect()
      return client
    }),
    (client) => Effect.promise(() => client.end())
  )

/** Leaves the database as one that has been at rest: with statistics and nothing left to flush. */
export const vacuumAndCheckpoint = (client: pg.Client) =>
  Effect.promise(async () => {
    await client.query("vacuum analyze")
    await client.query("checkpoint")
  })

/** What of durability is switched on, so that nobody compares numbers made without. */
export const describeDurability = (databaseUrl: string) =>
  Effect.gen(function* () {
    const client = yield* connectDatabase(databaseUrl)
    const { rows } = yield* Effect.promise(() =>
      client.query<{ name: string; setting: string }>(
        "select name, setting from pg_settings where name in ('fsync', 'synchronous_commit') order by name"
      )
    )
    return rows.map(({ name, setting }) => `${name} ${setting}`).join(", ")
  }).pipe(Effect.scoped)

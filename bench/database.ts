import { Effect } from "effect"
import pg from "pg"

export const connectDatabase = (connectionString: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      // The role limits statements for the service. A seed of a million rows takes longer.
      const client = new pg.Client({ connectionString, options: "-c statement_timeout=0 -c random_page_cost=4" })
      await client.connect()
      return client
    }),
    (client) => Effect.promise(() => client.end())
  )

/** Gives every measurement the same start: fresh statistics and no dirty pages to flush. */
export const vacuumAndCheckpoint = (client: pg.Client) =>
  Effect.promise(async () => {
    await client.query("vacuum analyze")
    await client.query("checkpoint")
  })

/** Shown with the results: numbers without durability are not comparable. */
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

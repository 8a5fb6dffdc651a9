import { Effect } from "effect"
import { migrate, migrations } from "../../../src/layers/infra/postgres/Migrations.ts"
import { applyMigrations } from "../../../src/layers/infra/postgres/migration/MigrationRunner.ts"
import { freshDatabase, openPool } from "./database.ts"
import { testLayers } from "./layers.ts"

/** A database of an earlier release, whose last migration has this number. `upgrade` applies the others. */
export const startOldDatabase = async (lastMigration: number) => {
  const database = await freshDatabase()
  const run = <A, E>(work: Effect.Effect<A, E, Effect.Effect.Context<typeof migrate>>) =>
    Effect.runPromise(Effect.provide(work, testLayers(database.url)))
  const before = (await Effect.runPromise(migrations)).filter(({ id }) => id <= lastMigration)
  await run(applyMigrations(before))
  const pool = openPool(database.url)
  const stop = async () => {
    await pool.end()
    await database.drop()
  }
  return { url: database.url, pool, upgrade: () => run(migrate), stop }
}

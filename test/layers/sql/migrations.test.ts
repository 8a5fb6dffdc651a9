import { Effect } from "effect"
import { assert, describe, it } from "vitest"
import { isMigrated, migrate } from "../../../src/layers/sql/Migrations.ts"
import { freshDatabase } from "../../support/database.ts"
import { liveOn } from "../../support/live.ts"

describe("migrations", () => {
  it("run once however many copies start together on an empty database", async () => {
    const database = await freshDatabase()
    // Each with a pool of its own, as each process has.
    const copy = () => Effect.runPromise(Effect.provide(migrate, liveOn(database.url)))
    const applied = await Promise.all(Array.from({ length: 6 }, copy))
    const workers = applied.filter((names) => names.length > 0)
    assert.strictEqual(workers.length, 1)
    assert.isTrue(await Effect.runPromise(Effect.provide(isMigrated, liveOn(database.url))))
    assert.deepStrictEqual(await copy(), [])
    await database.drop()
  })
})

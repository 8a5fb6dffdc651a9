import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { outlivePlans } from "../../../../support/assertions/queryPlans.ts"
import { countReads } from "../../../../support/assertions/readCounts.ts"
import { type DeliveryDatabase, openDeliveryDatabase } from "../../../../support/servers/deliveryDatabase.ts"

describe("a table that was empty when statements about it were planned", () => {
  let database: DeliveryDatabase
  beforeEach(async () => {
    database = await openDeliveryDatabase({ DATABASE_POOL: "1" })
  })
  afterEach(() => database.close())

  it("is looked up by its keys when it has grown, by foreign keys too, although nobody analyzed it", async () => {
    await database.sql.query(`
      create table holders (id text primary key);
      create table held (id text primary key, holder text not null references holders (id));
      analyze holders, held`)
    const use = (name: string) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`insert into holders values (${name})`
        yield* sql`insert into held values (${name}, ${name})`
        yield* sql`select 1 from held where id = ${name}`
      })
    const readsOf = async (name: string) => {
      const before = await countReads(database)
      await database.runIn(use(name))
      return (await countReads(database)) - before
    }
    // More often than it takes for a plan to be kept.
    for (let n = 0; n < 20; n++) await readsOf(`few ${n}`)
    await database.sql.query(`
      insert into holders select 'many ' || n from generate_series(1, 5000) n;
      insert into held select id, id from holders where id like 'many%'`)
    const restore = outlivePlans()
    assert.isAtMost(await readsOf("one more"), 6)
    restore()
  })
})

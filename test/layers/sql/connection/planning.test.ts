import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { assert, describe, it } from "vitest"
import { forAll } from "../../../support/forAll.ts"
import { liveOn } from "../../../support/live.ts"
import { startWithPool } from "../../../support/staging.ts"
import { eventually } from "../../../support/workers.ts"

describe("a table that was empty when statements about it were planned", () => {
  const at = forAll(startWithPool)

  it("is looked up by its keys from the start, by foreign keys too, however much it grows", async () => {
    const { pool, service } = at()
    await pool.query(`
      create table holders (id text primary key);
      create table held (id text primary key, holder text not null references holders (id));
      analyze holders, held`)
    const program = Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      // More often than it takes for a plan to be kept.
      for (let n = 0; n < 20; n++) {
        yield* sql`insert into holders values (${`h${n}`})`
        yield* sql`insert into held values (${`d${n}`}, ${`h${n}`})`
        yield* sql`select 1 from held where id = ${`d${n}`}`
      }
    })
    await Effect.runPromise(Effect.provide(program, liveOn(service.database.url)))
    const scans = async () => {
      const { rows } = await pool.query<{ name: string; all: number; some: number }>(
        `select relname as name, seq_scan::int as all, idx_scan::int as some from pg_stat_user_tables
         where relname in ('holders', 'held') order by 1`
      )
      return rows
    }
    await eventually(async () => (await scans()).every(({ all, some }) => all + some >= 20), "the scans are counted")
    assert.deepStrictEqual(await scans(), [
      { name: "held", all: 0, some: 20 },
      { name: "holders", all: 0, some: 20 }
    ])
  })
})

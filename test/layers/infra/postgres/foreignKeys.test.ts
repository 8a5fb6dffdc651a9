import { assert, describe, it } from "vitest"
import { migratedDatabase, openPool } from "../../../support/servers/database.ts"

/**
 * Foreign keys without an index that begins with columns that identify the referenced row, in any order. An index with
 * another column between them has them all, but PostgreSQL 18 expects to search it for each value of that column, and
 * reads all rows of the tenant instead. A partial index counts if it has all rows that refer to something.
 */
const unindexedForeignKeys = `
  with keys as (
    select indrelid as relation, indkey[0:indnkeyatts - 1]::int[] as columns, indisunique and indpred is null as "isUnique",
      coalesce(pg_get_expr(indpred, indrelid), '') as predicate
    from pg_index join pg_class on pg_class.oid = indexrelid join pg_am on pg_am.oid = relam
    where amname = 'btree' and indisvalid
  )
  select conrelid::regclass || ' ' || conname as name from pg_constraint where contype = 'f' and not exists (
    select 1 from keys, generate_series(1, cardinality(columns)) length
    where relation = conrelid and columns[:length] <@ conkey::int[]
      and (predicate = '' or predicate in (
        select format('(%I IS NOT NULL)', attname) from pg_attribute where attrelid = conrelid and attnum = any (conkey)
      ))
      and exists (
        select 1 from keys target where target.relation = confrelid and "isUnique"
          and target.columns <@ array(
            select referenced from unnest(confkey::int[], conkey::int[]) pair (referenced, referencing)
            where referencing = any (keys.columns[:length])
          )
      )
  ) order by 1`

describe("Every foreign key", () => {
  it("has an index of its rows that begins with the columns that identify what they refer to", async () => {
    const database = await migratedDatabase()
    const pool = openPool(database.url)
    const { rows } = await pool.query<{ name: string }>(unindexedForeignKeys)
    await pool.end()
    await database.drop()
    assert.deepStrictEqual(
      rows.map(({ name }) => name),
      []
    )
  })
})

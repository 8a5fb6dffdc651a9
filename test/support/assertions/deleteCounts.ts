import type pg from "pg"

/** Notes how many rows each transaction deletes from tables, cascades included. */
export const countDeletes = async (pool: pg.Pool, ...tables: ReadonlyArray<string>) => {
  await pool.query(`
    create table if not exists noted_deletes (name text, rows integer, xact xid8);
    create or replace function note_deletes() returns trigger language plpgsql as $$
    begin
      insert into noted_deletes select tg_table_name, count(*), pg_current_xact_id() from removed;
      return null;
    end $$`)
  for (const table of tables)
    await pool.query(
      `create or replace trigger note_deletes after delete on ${table} referencing old table as removed
       for each statement execute function note_deletes()`
    )
  return {
    /** The most rows that one transaction took from one of the tables, and the number of transactions. */
    noted: async (table: string) => {
      const { rows } = await pool.query<{ max: number; count: number; sum: number }>(
        `select coalesce(max(rows), 0)::int as max, count(*)::int, coalesce(sum(rows), 0)::int as sum
         from (select sum(rows) as rows from noted_deletes where name = $1 and rows > 0 group by xact) each`,
        [table]
      )
      return rows[0] ?? { max: 0, count: 0, sum: 0 }
    },
    stop: async () => {
      for (const table of tables) await pool.query(`drop trigger note_deletes on ${table}`)
      await pool.query("drop table noted_deletes")
    }
  }
}

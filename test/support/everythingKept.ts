import type pg from "pg"

/** Every row of every table as text, the bytes in it both as they are written and as what they say. */
export const everythingKept = async (pool: pg.Pool) => {
  const { rows: tables } = await pool.query<{ name: string }>(
    "select table_name as name from information_schema.tables where table_schema = current_schema()"
  )
  const kept: Array<string> = []
  for (const { name } of tables) {
    const { rows } = await pool.query<{ row: string }>(`select this::text as row from ${name} this`)
    kept.push(...rows.map(({ row }) => row))
  }
  const text = kept.join("\n")
  const said = [...text.matchAll(/\\x([0-9a-f]+)/g)].map(([, hex = ""]) => Buffer.from(hex, "hex").toString("latin1"))
  return [text, ...said].join("\n")
}

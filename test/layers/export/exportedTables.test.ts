import { assert, describe, it } from "vitest"
import { exportedTables, unexportedTables } from "../../../src/layers/export/ExportedTables.ts"
import { migratedDatabase, openPool } from "../../support/servers/database.ts"

describe("The export of a tenant", () => {
  it("contains every table of tenants, or says why it does not", async () => {
    const database = await migratedDatabase()
    const pool = openPool(database.url)
    const { rows } = await pool.query<{ name: string }>(
      `select table_name as name from information_schema.columns join information_schema.tables using (table_schema, table_name)
       where table_schema = current_schema() and column_name = 'tenant_id' and table_type = 'BASE TABLE'`
    )
    await pool.end()
    await database.drop()
    assert.sameMembers(
      ["tenants", ...rows.map(({ name }) => name)],
      [...Object.values(exportedTables).flat(), ...Object.keys(unexportedTables)]
    )
  })
})

import pg from "pg"
import { sessionSettings } from "../../src/layers/infra/postgres/connection/SessionSettings.ts"
import { toIso } from "../../src/layers/infra/postgres/connection/Values.ts"
import { environment } from "./environment.ts"

// Skips Date objects for timestamps, which are only formatted again.
pg.types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, toIso)
pg.types.setTypeParser(pg.types.builtins.INT8, Number)

export const pool = new pg.Pool({
  connectionString: environment.databaseUrl,
  max: environment.databasePool,
  options: `-c timezone=UTC -c random_page_cost=${sessionSettings.random_page_cost}`
})

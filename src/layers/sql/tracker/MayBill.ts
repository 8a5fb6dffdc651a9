import type * as SqlClient from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"

/** Whether line `b`, which bears the key of an issue, may bill the one of this site: it is of it, or either may be of any. */
export const mayBill = (sql: SqlClient.SqlClient, site: Fragment) => sql`
  coalesce(${site} = b.metadata ->> 'siteId', true)`

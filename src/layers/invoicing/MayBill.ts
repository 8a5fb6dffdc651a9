import type * as SqlClient from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import { prefixOf } from "../../domain/Ids.ts"
import { issueReference } from "../../domain/tracker/IssueBilling.ts"
import { TrackedIssueId } from "../../domain/tracker/TrackedIssue.ts"

/**
 * Whether line `b` was made of this tracked issue, whatever key that had then. The condition is that of the index by which
 * such lines are found.
 */
export const wasMadeOf = (sql: SqlClient.SqlClient, issue: Fragment) => sql`(
  b.reference_type = ${sql.literal(`'${issueReference}'`)} and starts_with(b.metadata ->> 'issueId', ${sql.literal(`'${prefixOf(TrackedIssueId)}_'`)})
  and b.metadata ->> 'issueId' = ${issue})`

/** Whether line `b`, which bears the key of an issue, may bill the one of this site: it is of it, or either may be of any. */
export const mayBill = (sql: SqlClient.SqlClient, site: Fragment) => sql`
  coalesce(${site} = b.metadata ->> 'siteId', true)`

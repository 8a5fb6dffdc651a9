import type * as SqlClient from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import { prefixOf } from "../../domain/Ids.ts"
import { jiraReferenceType } from "../../domain/trackers/IssueBilling.ts"
import { TrackedIssueId } from "../../domain/trackers/TrackedIssue.ts"

/**
 * Whether billable `b` was created from this tracked issue. The key of the issue can have changed since then. The
 * condition repeats that of a partial index, so that PostgreSQL uses the index.
 */
export const isCreatedFromIssue = (sql: SqlClient.SqlClient, issue: Fragment) => sql`(
  b.reference_type = ${sql.literal(`'${jiraReferenceType}'`)} and starts_with(b.metadata ->> 'issueId', ${sql.literal(`'${prefixOf(TrackedIssueId)}_'`)})
  and b.metadata ->> 'issueId' = ${issue})`

/**
 * Whether billable `b`, which has the key of an issue, can be for the issue of this site. An unknown site matches any
 * site.
 */
export const canBillSite = (sql: SqlClient.SqlClient, site: Fragment) => sql`
  coalesce(${site} = b.metadata ->> 'siteId', true)`

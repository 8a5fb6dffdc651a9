import type * as SqlClient from "@effect/sql/SqlClient"
import type { EventType } from "../../../domain/events/EventCatalogue.ts"
import { makeRowMapper } from "../../infra/postgres/repository/Columns.ts"
import { insertEvents, workerOrigin } from "../../infra/postgres/repository/EventLog.ts"
import { issueShape } from "../TrackedIssues.ts"
import type { KnownIssue } from "./BatchLoader.ts"
import type { InboundOutcome } from "./InboundOutcome.ts"

/** The new state of an issue, and the type of its event. */
export interface AppliedChange extends KnownIssue {
  readonly tenant: string
  readonly type: EventType
}

const rowOf = makeRowMapper(issueShape)
const columns = [...Object.keys(rowOf({})), "tenant_id", "happened_at", "sequence"]
const columnList = columns.join(", ")
const assignments = columns.map((column) => `${column} = excluded.${column}`).join(", ")

/** The last change of each issue is its final state. */
const latestByIssue = (applied: ReadonlyArray<AppliedChange>) => [
  ...new Map(applied.map((change) => [`${change.tenant} ${change.issue.id}`, change])).values()
]

/** Saves the issues, one event for every change, and the outcome of every webhook, in one statement. */
export const makeSaveBatch = (sql: SqlClient.SqlClient) => {
  const record = insertEvents(sql)

  return (applied: ReadonlyArray<AppliedChange>, outcomes: ReadonlyArray<InboundOutcome>) => {
    const rows = latestByIssue(applied).map(({ happenedAt, issue, sequence, tenant }) => ({
      ...rowOf(issue),
      tenant_id: tenant,
      happened_at: happenedAt,
      sequence
    }))
    const events = record(
      applied.map(({ issue, sequence, tenant, type }) => ({
        tenant,
        type,
        resource: issue.id,
        client: undefined,
        sequence,
        at: issue.updatedAt,
        ...workerOrigin,
        data: issue
      }))
    )
    return sql`
      with changed as (
        insert into tracked_issues (${sql.literal(columnList)}) select ${sql.literal(columnList)}
        from json_populate_recordset(null::tracked_issues, ${JSON.stringify(rows)}::json)
        on conflict (tenant_id, id) do update set ${sql.literal(assignments)}
      ), finished as (
        update inbound_webhooks w
        set status = given.status, attempts = w.attempts + 1, error = given.error, processed_at = now()
        from json_to_recordset(${JSON.stringify(outcomes)}::json) as given (tenant text, id text, status text, error text)
        where w.tenant_id = given.tenant and w.id = given.id
      ) ${events}`
  }
}

export type SaveBatch = ReturnType<typeof makeSaveBatch>

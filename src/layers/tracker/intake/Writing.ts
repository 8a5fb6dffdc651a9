import type * as SqlClient from "@effect/sql/SqlClient"
import type { EventType } from "../../../domain/events/Catalogue.ts"
import { rowMaker } from "../../postgres/repository/Columns.ts"
import { recordingEach } from "../../postgres/repository/EventLog.ts"
import { issueShape } from "../TrackedIssues.ts"
import type { Outcome } from "./Outcome.ts"
import type { KnownIssue } from "./Taking.ts"

/** A change of an issue, and what the event about it is called. */
export interface Applied extends KnownIssue {
  readonly tenant: string
  readonly type: EventType
}

const rowOf = rowMaker(issueShape)
const columns = [...Object.keys(rowOf({})), "tenant_id", "happened_at", "sequence"]
const columnList = columns.join(", ")
const overwritten = columns.map((column) => `${column} = excluded.${column}`).join(", ")

/** Of the changes of one issue the last is what it is afterwards. */
const lastOf = (applied: ReadonlyArray<Applied>) => [
  ...new Map(applied.map((one) => [`${one.tenant} ${one.issue.id}`, one])).values()
]

/** Writes down, in one statement, what issues have become, an event for every change, and what became of webhooks. */
export const makeWriting = (sql: SqlClient.SqlClient) => {
  const record = recordingEach(sql)

  return (applied: ReadonlyArray<Applied>, outcomes: ReadonlyArray<Outcome>) => {
    const rows = lastOf(applied).map(({ happenedAt, issue, sequence, tenant }) => ({
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
        data: issue
      }))
    )
    return sql`
      with changed as (
        insert into tracked_issues (${sql.literal(columnList)}) select ${sql.literal(columnList)}
        from json_populate_recordset(null::tracked_issues, ${JSON.stringify(rows)}::json)
        on conflict (tenant_id, id) do update set ${sql.literal(overwritten)}
      ), finished as (
        update inbound_webhooks w
        set status = given.status, attempts = w.attempts + 1, error = given.error, processed_at = now()
        from json_to_recordset(${JSON.stringify(outcomes)}::json) as given (tenant text, id text, status text, error text)
        where w.tenant_id = given.tenant and w.id = given.id
      ) ${events}`
  }
}

export type Writing = ReturnType<typeof makeWriting>

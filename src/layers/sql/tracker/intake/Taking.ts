import type * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import type { Known } from "../../../../domain/tracker/Intake.ts"
import type { TrackedIssue } from "../../../../domain/tracker/TrackedIssue.ts"
import { present, type Row, selectList } from "../../resource/Columns.ts"
import { issueShape } from "../TrackedIssues.ts"
import { type IssueKey, nameOf } from "./IssueKey.ts"

/** A webhook that waits, and the place of its issue among those that were asked for. */
export interface Waiting {
  readonly place: number
  readonly id: string
  readonly body: string
  readonly attempts: number
  /** Whose issue it is, as far as that is known. */
  readonly site: string | null
  readonly siteUrl: string | null
}

export interface KnownIssue extends Known {
  readonly sequence: number
}

type KnownRow = Row & { readonly place: number; readonly happenedAt: number; readonly sequence: number }

/** So many webhooks in one transaction. */
const mostTogether = 200

/** Takes issues, with what waits for them and what is known of them, to be worked in one transaction. */
export const makeTaking = (sql: SqlClient.SqlClient) => {
  const columns = sql.literal(selectList(issueShape))

  const given = (keys: ReadonlyArray<IssueKey>) => sql`
    json_to_recordset(${JSON.stringify(keys.map((key, place) => ({ ...key, place })))}::json)
      as given (place integer, tenant text, integration text, issue text)`

  return {
    /** Those of the issues that are ours to work on until the transaction ends. */
    hold: (keys: ReadonlyArray<IssueKey>) =>
      Effect.map(
        sql<{ held: boolean }>`
          select pg_try_advisory_xact_lock(hashtextextended(given.name, 2)) as held
          from json_array_elements_text(${JSON.stringify(keys.map(nameOf))}::json) with ordinality as given (name, place)
          order by given.place`,
        (rows) => keys.filter((_, place) => rows[place]?.held === true)
      ),

    /**
     * What waits for issues, for each as it happened; nothing while its integration is not at work. Tells the most there
     * may be for each: as many is perhaps not all.
     */
    waiting: (keys: ReadonlyArray<IssueKey>) => {
      const most = Math.ceil(mostTogether / keys.length)
      return Effect.map(
        sql<Waiting>`
          select given.place, w.id, w.body, w.attempts, i.config ->> 'siteId' as site, g.site_url as "siteUrl"
          from ${given(keys)}
          join integrations i on i.tenant_id = given.tenant and i.id = given.integration and i.status = 'ACTIVE'
          join tenants t on t.id = given.tenant and t.deleted_at is null
          left join grants g on g.tenant_id = i.tenant_id and g.integration_id = i.id
          cross join lateral (
            select w.id, w.body, w.attempts, w.happened_at,
              array_position(array['jira:issue_created', 'jira:issue_updated'], w.kind) as step
            from inbound_webhooks w
            where w.tenant_id = given.tenant and w.integration_id = given.integration and w.issue_id = given.issue
              and w.status = 'RECEIVED'
            order by w.happened_at, step, w.id
            limit ${most}
            for no key update
          ) w
          order by given.place, w.happened_at, w.step, w.id`,
        (webhooks) => ({ webhooks, most })
      )
    },

    /** What is known of issues, by their place. */
    known: (keys: ReadonlyArray<IssueKey>) =>
      Effect.map(
        sql<KnownRow>`
          select given.place, ${columns}, this.happened_at as "happenedAt", this.sequence
          from ${given(keys)}
          join tracked_issues this on this.tenant_id = given.tenant and this.integration_id = given.integration
            and this.external_id = given.issue`,
        (rows) =>
          new Map(
            rows.map(({ happenedAt, place, sequence, ...fields }): readonly [number, KnownIssue] => [
              place,
              // The columns are named after the schema's fields, and the table checks their values.
              { issue: present(fields) as TrackedIssue, happenedAt, sequence }
            ])
          )
      )
  }
}

export type Taking = ReturnType<typeof makeTaking>

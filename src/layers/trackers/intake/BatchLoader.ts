import type * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import type { IssueVersion } from "../../../domain/trackers/IssueUpdate.ts"
import type { TrackedIssue } from "../../../domain/trackers/TrackedIssue.ts"
import { omitNulls, type Row, selectList } from "../../infra/postgres/repository/Columns.ts"
import { issueShape } from "../TrackedIssues.ts"
import { type IssueRef, issueRefKey } from "./IssueRef.ts"

/** A pending webhook. `place` is the index of its issue in the request. */
export interface PendingWebhook {
  readonly place: number
  readonly id: string
  readonly body: string
  readonly attempts: number
  /** The site of the issue, or null while it is unknown. */
  readonly site: string | null
  readonly siteUrl: string | null
}

export interface KnownIssue extends IssueVersion {
  readonly sequence: number
}

type KnownRow = Row & { readonly place: number; readonly happenedAt: number; readonly sequence: number }

/** Limits of one transaction. A body can have 5 MiB, so that the number of webhooks alone does not bound the memory. */
export interface BatchLimits {
  readonly maxWebhooks: number
  readonly maxBytes: number
}

export const defaultBatchLimits: BatchLimits = { maxWebhooks: 200, maxBytes: 16 * 1024 * 1024 }

type PendingRow = Omit<PendingWebhook, "body"> & { readonly body: string | null }

/** Locks issues and loads their pending webhooks and current state, for one transaction. */
export const makeBatchLoader = (
  sql: SqlClient.SqlClient,
  { maxBytes, maxWebhooks }: BatchLimits = defaultBatchLimits
) => {
  const columns = sql.literal(selectList(issueShape))

  const requestedIssues = (keys: ReadonlyArray<IssueRef>) => sql`
    json_to_recordset(${JSON.stringify(keys.map((key, place) => ({ ...key, place })))}::json)
      as given (place integer, tenant text, integration text, issue text)`

  return {
    /** Locks issues until the transaction ends. Returns those that no other worker has locked. */
    lockIssues: (keys: ReadonlyArray<IssueRef>) =>
      Effect.map(
        sql<{ held: boolean }>`
          select pg_try_advisory_xact_lock(hashtextextended(given.name, 2)) as held
          from json_array_elements_text(${JSON.stringify(keys.map(issueRefKey))}::json) with ordinality as given (name, place)
          order by given.place`,
        (rows) => keys.filter((_, place) => rows[place]?.held === true)
      ),

    /**
     * Loads the pending webhooks of issues, in the order of each issue's changes. Skips integrations that are not
     * ACTIVE. The byte limit applies to the first webhook of every issue, then to the second, so that an issue with
     * large bodies does not starve the others. `mayHaveMore` tells whether an issue can have more pending webhooks.
     */
    loadPending: (keys: ReadonlyArray<IssueRef>) => {
      const max = Math.ceil(maxWebhooks / keys.length)
      return Effect.map(
        sql<PendingRow>`
          select place, id, attempts, site, "siteUrl", case when bytes <= ${maxBytes} or turn = 1 then body end as body
          from (
            select *, row_number() over turns as turn, sum(octet_length(body)) over turns as bytes
            from (
              select given.place, w.id, w.body, w.attempts, i.config ->> 'siteId' as site, g.site_url as "siteUrl",
                row_number() over (partition by given.place order by w.happened_at, w.step, w.id) as n
              from ${requestedIssues(keys)}
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
                limit ${max}
                for no key update
              ) w
            ) numbered
            window turns as (order by n, place)
          ) measured
          order by place, n`,
        (rows) => {
          const webhooks = rows.flatMap(
            ({ body, ...rest }): ReadonlyArray<PendingWebhook> => (body === null ? [] : [{ ...rest, body }])
          )
          const truncated = new Set(rows.flatMap(({ body, place }) => (body === null ? [place] : [])))
          const mayHaveMore = (place: number) =>
            truncated.has(place) || rows.filter((row) => row.place === place).length === max
          return { webhooks, mayHaveMore }
        }
      )
    },

    /** Loads the saved state of issues, keyed by their index in the request. */
    loadKnownIssues: (keys: ReadonlyArray<IssueRef>) =>
      Effect.map(
        sql<KnownRow>`
          select given.place, ${columns}, this.happened_at as "happenedAt", this.sequence
          from ${requestedIssues(keys)}
          join tracked_issues this on this.tenant_id = given.tenant and this.integration_id = given.integration
            and this.external_id = given.issue`,
        (rows) =>
          new Map(
            rows.map(({ happenedAt, place, sequence, ...fields }): readonly [number, KnownIssue] => [
              place,
              // The cast is safe: the columns have the names of the schema's fields, and the table checks the values.
              { issue: omitNulls(fields) as TrackedIssue, happenedAt, sequence }
            ])
          )
      )
  }
}

export type BatchLoader = ReturnType<typeof makeBatchLoader>

import * as SqlClient from "@effect/sql/SqlClient"
import { SqlError } from "@effect/sql/SqlError"
import { Cause, Data, Effect } from "effect"
import { prefixOf } from "../../../domain/Ids.ts"
import { CurrentTenant } from "../../../domain/tenancy/Caller.ts"
import type { TenantId } from "../../../domain/tenancy/Tenant.ts"
import {
  eventOf,
  isDrift,
  judge,
  type Known,
  readTold,
  type Told,
  type WorkResult
} from "../../../domain/tracker/Intake.ts"
import { type TrackedIssue, TrackedIssueId } from "../../../domain/tracker/TrackedIssue.ts"
import { makeId } from "../../Ids.ts"
import { isOutage } from "../connection/Outage.ts"
import { atomically } from "../connection/Transaction.ts"
import { arranger, driverRow, present, type Row, rowMaker, selectList } from "../resource/Columns.ts"
import { recording } from "../resource/EventLog.ts"
import { makeDrift } from "./Drift.ts"
import type { InboundKey } from "./Receiving.ts"
import { issueShape } from "./TrackedIssues.ts"

/** An issue of a tracker, as the tracker calls it. */
export interface IssueKey {
  readonly tenant: TenantId
  readonly integration: string
  readonly issue: string
}

interface Waiting {
  readonly id: string
  readonly body: string
  readonly attempts: number
  readonly site: string | null
  readonly siteUrl: string | null
}

interface KnownRow {
  readonly happenedAt: number
  readonly sequence: number
}

class Unworkable extends Data.TaggedError("Unworkable")<{ readonly cause: unknown }> {}

/** So many webhooks of one issue in one transaction, and so many attempts at one that cannot be worked. */
const mostTogether = 50
const mostAttempts = 5
/** What the broker brings is left to it for so long; what failed waits longer each time. */
const graceSeconds = 2

const arrange = arranger(issueShape)
const rowOf = rowMaker(issueShape)

const urlOf = (siteUrl: string | null, key: string) => {
  const url = `${siteUrl?.replace(/\/+$/, "")}/browse/${encodeURIComponent(key)}`
  return siteUrl === null || url.length > 500 ? {} : { url }
}

const errorOf = (error: unknown): string => {
  const cause = error instanceof Unworkable || error instanceof SqlError ? error.cause : error
  return (cause instanceof Error ? cause.message : String(cause)).replaceAll("\u0000", "").toWellFormed()
}

/** Works webhooks off, issue by issue, each with its effects in one transaction. */
export class Intake extends Effect.Service<Intake>()("layers/Intake", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const columns = sql.literal(selectList(issueShape))
    const record = recording(sql, sql.literal("changed"))
    const drift = makeDrift(sql)

    /** Whether the issue is ours to work on until the transaction ends. */
    const hold = ({ integration, issue, tenant }: IssueKey) =>
      Effect.map(
        sql<{ held: boolean }>`
          select pg_try_advisory_xact_lock(hashtextextended(${JSON.stringify([tenant, integration, issue])}, 2)) as held`,
        ([row]) => row?.held === true
      )

    /** What waits for an issue, as it happened; nothing while its integration is not at work. */
    const waiting = ({ integration, issue, tenant }: IssueKey) => sql<Waiting>`
      select w.id, w.body, w.attempts, i.config ->> 'siteId' as site, g.site_url as "siteUrl"
      from inbound_webhooks w
      join integrations i on i.tenant_id = w.tenant_id and i.id = w.integration_id and i.status = 'ACTIVE'
      join tenants t on t.id = w.tenant_id and t.deleted_at is null
      left join grants g on g.tenant_id = i.tenant_id and g.integration_id = i.id
      where w.tenant_id = ${tenant} and w.integration_id = ${integration} and w.issue_id = ${issue}
        and w.status = 'RECEIVED'
      order by w.happened_at, array_position(array['jira:issue_created', 'jira:issue_updated'], w.kind), w.id
      limit ${mostTogether}
      for no key update of w`

    const known = ({ integration, issue, tenant }: IssueKey) =>
      Effect.map(
        sql<Row & KnownRow>`
          select ${columns}, this.happened_at as "happenedAt", this.sequence from tracked_issues this
          where this.tenant_id = ${tenant} and this.integration_id = ${integration} and this.external_id = ${issue}`,
        ([row]) => {
          if (row === undefined) return undefined
          const { happenedAt, sequence, ...fields } = row
          // The columns are named after the schema's fields, and the table checks their values.
          return { issue: present(fields) as TrackedIssue, happenedAt, sequence }
        }
      )

    const finish = (tenant: string, id: string, status: "DONE" | "STALE") => sql`
      update inbound_webhooks set status = ${status}, attempts = attempts + 1, error = null, processed_at = now()
      where tenant_id = ${tenant} and id = ${id}`

    /** The issue after a webhook. */
    const next = ({ integration }: IssueKey, before: Known | undefined, { facts }: Told, siteUrl: string | null) => {
      const at = new Date().toISOString()
      const id = before?.issue.id ?? makeId(prefixOf(TrackedIssueId))
      const fields = { ...facts, ...urlOf(siteUrl, facts.issueKey), id, integration }
      // Only the order of the fields changes, which a record of columns cannot tell its type.
      return arrange({ ...fields, createdAt: before?.issue.createdAt ?? at, updatedAt: at }) as unknown as TrackedIssue
    }

    const write = Effect.fnUntraced(function* (tenant: string, issue: TrackedIssue, told: Told, sequence: number) {
      const row = { tenant_id: tenant, ...driverRow(rowOf(issue)), happened_at: told.happenedAt, sequence }
      const event = yield* record({
        tenant,
        type: eventOf[told.kind],
        resource: issue.id,
        client: undefined,
        sequence,
        at: issue.updatedAt,
        data: issue
      })
      yield* sql`
        with changed as (
          insert into tracked_issues ${sql.insert(row)}
          on conflict (tenant_id, id) do update set ${sql.literal(overwritten)} returning 1
        ) ${event}`
    })
    const overwritten = [...Object.keys(rowOf({})), "happened_at", "sequence"]
      .map((column) => `${column} = excluded.${column}`)
      .join(", ")

    /** Does what one webhook asks for. */
    const work = Effect.fnUntraced(function* (key: IssueKey, { body, id, site, siteUrl }: Waiting) {
      const told = yield* Effect.mapError(readTold(body), (cause) => new Unworkable({ cause }))
      const before = yield* known(key)
      const verdict = judge(before, told)
      if (verdict === "apply") {
        const after = next(key, before, told, siteUrl)
        const happenedAt = Math.max(told.happenedAt, before?.happenedAt ?? told.happenedAt)
        yield* write(key.tenant, after, { ...told, happenedAt }, (before?.sequence ?? 0) + 1)
        if (isDrift(before?.issue, told.facts)) yield* drift(key.tenant, { site, before: before?.issue, after })
      }
      const result: "DONE" | "STALE" = verdict === "stale" ? "STALE" : "DONE"
      yield* finish(key.tenant, id, result)
      return result
    })

    const fail = ({ tenant }: IssueKey, { attempts, id }: Waiting, cause: unknown) => {
      const isLast = attempts + 1 >= mostAttempts
      const result: WorkResult = isLast ? "FAILED" : "RETRIED"
      return Effect.as(
        sql`
          update inbound_webhooks
          set attempts = attempts + 1, error = ${errorOf(cause).slice(0, 1000)},
            status = ${isLast ? "FAILED" : "RECEIVED"}, processed_at = now()
          where tenant_id = ${tenant} and id = ${id}`,
        result
      )
    }

    /** One that cannot be worked leaves no traces but the reason why, and stops no other. */
    const workOrFail = (key: IssueKey, webhook: Waiting) =>
      sql.withTransaction(work(key, webhook)).pipe(
        Effect.catchAllCause((cause) => {
          const error = Cause.squash(cause)
          return isOutage(error) ? Effect.failCause(cause) : fail(key, webhook, error)
        })
      )

    return {
      /**
       * Works off what waits for an issue, in the order it happened. Tells what came of each webhook, and whether there
       * are more: left over, or in the hands of another worker.
       */
      workOff: (key: IssueKey) =>
        Effect.gen(function* () {
          if (!(yield* hold(key))) return { results: [], isMore: true }
          const webhooks = yield* waiting(key)
          const results = yield* Effect.forEach(webhooks, (webhook) => workOrFail(key, webhook))
          return { results, isMore: webhooks.length === mostTogether }
        }).pipe(atomically(sql), Effect.provideService(CurrentTenant, key.tenant), Effect.orDie),

      /** The issues that these webhooks are about, as far as they still wait. */
      issuesOf: (keys: ReadonlyArray<Omit<InboundKey, "integration">>) =>
        Effect.orDie(sql<IssueKey & { readonly id: string }>`
          select w.id, w.tenant_id as tenant, w.integration_id as integration, w.issue_id as issue
          from json_to_recordset(${JSON.stringify(keys)}::json) as given (tenant text, id text)
          join inbound_webhooks w on w.tenant_id = given.tenant and w.id = given.id and w.status = 'RECEIVED'`),

      /** Issues that something has waited for longer than the broker should take to bring it. */
      forgotten: (most: number) =>
        Effect.orDie(sql<IssueKey>`
          select waiting.tenant_id as tenant, waiting.integration_id as integration, waiting.issue_id as issue
          from integrations i join tenants t on t.id = i.tenant_id and t.deleted_at is null
          cross join lateral (
            select distinct w.tenant_id, w.integration_id, w.issue_id from inbound_webhooks w
            where w.tenant_id = i.tenant_id and w.integration_id = i.id and w.status = 'RECEIVED'
              and greatest(w.received_at, w.processed_at)
                < now() - make_interval(secs => ${graceSeconds}::integer * (1 + w.attempts * w.attempts))
            limit ${most}
          ) waiting
          where i.provider = 'JIRA' and i.status = 'ACTIVE'
          order by random() limit ${most}`)
    }
  })
}) {}

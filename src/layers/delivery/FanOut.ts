import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { ownMailServerKeys } from "../../domain/integrations/Integration.ts"
import { commitWith, inTransaction } from "../infra/postgres/connection/Transactions.ts"
import { makeId } from "../infra/postgres/IdGenerator.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"
import { hasOrderingKeySql, isUnfinishedSql, lockOrderingExclusive } from "./DeliveryOrder.ts"
import { type DeliveryMatch, type EventMatch, type FeedUpdate, planFanOut } from "./FanOutPlan.ts"

export interface EventKey {
  readonly tenant: string
  readonly id: string
}

/** An event that is not fanned out yet. It also serves as the cursor of a scan over them. */
export interface WaitingEvent extends EventKey {
  readonly resource: string
  readonly sequence: number
}

/** Limits of one transaction, divided equally among its tenants. */
export interface FanOutLimits {
  readonly maxEvents: number
  /** Each delivery can need its own advisory lock, and the lock table of PostgreSQL holds some thousand in all. */
  readonly maxDeliveries: number
}

export const fanOutLimits: FanOutLimits = { maxEvents: 500, maxDeliveries: 1000 }

/**
 * Fans events out: inserts one delivery for each integration with a matching subscription. An EMAIL integration has one
 * for each contact of the client that receives invoices.
 */
export class FanOut extends Effect.Service<FanOut>()("layers/FanOut", {
  effect: Effect.map(SqlClient.SqlClient, (sql) => {
    const usesSharedServer = sql.literal(ownMailServerKeys.map((key) => `config->>'${key}' is null`).join(" and "))

    /**
     * Locks the events of a batch and finds the integrations that match each, from where the last batch stopped. The
     * batch includes the earlier events of the same resource: after a crash events arrive in any order, and would
     * otherwise wait for each other one by one. The statement skips events that another worker has locked. Later events
     * of that resource wait: an event is in `ready` only if this transaction has locked all waiting ones before it. The
     * plan looks every row up by its key and stops at `limit`, so the rows come in the order of the inner sort.
     */
    const lockMatches = (keys: ReadonlyArray<EventKey>, { maxDeliveries, maxEvents }: FanOutLimits) => sql<EventMatch>`
      with newest as (
        select feed.tenant_id, feed.resource_id, max(feed.sequence) as sequence
        from json_to_recordset(${JSON.stringify(keys)}::json) as given (tenant text, id text)
        cross join lateral (
          select * from event_feed where event_id = given.id limit 1
        ) feed
        where feed.tenant_id = given.tenant and not feed.fanned_out
        group by 1, 2
      ), candidates as (
        select waiting.*, row_number() over (partition by waiting.tenant_id order by waiting.position) as turn
        from newest cross join lateral (
          select feed.ctid as row, feed.tenant_id, feed.position, row_number() over (order by feed.sequence) as place
          from event_feed feed
          where feed.tenant_id = newest.tenant_id and feed.resource_id = newest.resource_id
            and feed.sequence <= newest.sequence and not feed.fanned_out
          order by feed.sequence limit ${maxEvents}
        ) waiting
      ), locked as materialized (
        select candidates.place, feed.* from candidates cross join lateral (
          select ctid, * from event_feed where ctid = candidates.row and not fanned_out for update skip locked
        ) feed
        where candidates.turn <= ${maxEvents}
      ), ready as materialized (
        select * from (
          select *, row_number() over (partition by tenant_id, resource_id order by sequence) as rank from locked
        ) ranked where rank = place
      )
      select found.* from (select distinct tenant_id from ready) tenants
      cross join lateral (
        select event.ctid as row, event.tenant_id as tenant, event.event_id as event, about.type,
          event.resource_id as resource, event.sequence, event.position, target.integration, target.recipient,
          target."sharedMailBy", target.total
        from (select * from ready where ready.tenant_id = tenants.tenant_id order by position) event
        cross join lateral (
          select type, client_id, created_by from events where tenant_id = event.tenant_id and id = event.event_id limit 1
        ) about
        left join lateral (
          select integration, recipient, case when is_shared then coalesce(about.created_by, '') end as "sharedMailBy",
            count(*) over () as total
          from (
            select integration_id as integration from subscriptions
            where tenant_id = event.tenant_id and about.type <> 'integration.ping'
              and event_type in (about.type, split_part(about.type, '.', 1) || '.*')
              and coalesce(client_id, '') in ('', coalesce(about.client_id, ''))
            union
            select event.resource_id where about.type = 'integration.ping'
          ) subscribed
          cross join lateral (
            select provider, provider = 'EMAIL' and ${usesSharedServer} as is_shared
            from integrations where tenant_id = event.tenant_id and id = integration limit 1
          ) receiver
          cross join lateral (
            select null::text as recipient where provider not in ('JIRA', 'EMAIL')
            union all
            select min(address) from contacts
            join emails on emails.tenant_id = contacts.tenant_id and emails.contact_id = contacts.id
            where provider = 'EMAIL' and contacts.tenant_id = event.tenant_id and contacts.client_id = about.client_id
              and contacts.receives_invoices
            group by lower(address)
          ) addressed
          where integration || coalesce('/' || recipient, '') > coalesce(event.fanned_to, '')
          order by integration || coalesce('/' || recipient, '')
        ) target on true
        limit ${maxDeliveries}
      ) found`

    const sameOrderingKey = sql.literal(hasOrderingKeySql("before", "matches"))

    /** Inserts deliveries. A delivery waits behind an unfinished one with the same ordering key. */
    const insertDeliveries = (deliveries: ReadonlyArray<DeliveryMatch>, steps: ReadonlyArray<FeedUpdate>) => {
      const rows = deliveries.map((match) => ({ ...match, id: makeId("dlv") }))
      const given = sql`json_to_recordset(${JSON.stringify(steps)}::json) as given (row tid, done boolean, "upTo" text)`
      return commitWith(sql`
        with matches as (
          select *, row_number() over (partition by tenant, integration, resource, recipient order by sequence) as place
          from json_to_recordset(${JSON.stringify(rows)}::json) as given
            (tenant text, id text, integration text, event text, type text, resource text, recipient text,
               "sharedMailBy" text, sequence integer)
        ), inserted as (
          insert into deliveries (tenant_id, id, integration_id, event_id, event_type, resource_id, recipient,
            shared_mail_by, sequence, status, next_attempt_at, created_at, updated_at)
          select tenant, id, integration, event, type, resource, recipient, "sharedMailBy", sequence,
            case when place = 1 and (
              select 1 from deliveries before where ${sameOrderingKey} and before.${sql.literal(isUnfinishedSql)} limit 1
            ) is null then 'PENDING' else 'WAITING' end, now(), now(), now()
          from matches
          on conflict do nothing
        )
        update event_feed set fanned_out = given.done, fanned_to = given."upTo" from ${given}
        where event_feed.ctid = any (array(select row from ${given})) and event_feed.ctid = given.row`)
    }

    const selectDone = (keys: ReadonlyArray<EventKey>) => sql<{ id: string }>`
      select given.id from json_to_recordset(${JSON.stringify(keys)}::json) as given (tenant text, id text)
      left join lateral (
        select tenant_id, fanned_out from event_feed where event_id = given.id limit 1
      ) feed on feed.tenant_id = given.tenant
      where feed.fanned_out is not false`

    const fanOutLocked = (keys: ReadonlyArray<EventKey>, limits: FanOutLimits) =>
      Effect.gen(function* () {
        const { deliveries, steps } = planFanOut(yield* lockMatches(keys, limits))
        if (deliveries.length > 0) yield* lockOrderingExclusive(sql)(deliveries)
        if (steps.length > 0) yield* insertDeliveries(deliveries, steps)
        return { steps, deliveryCount: deliveries.length }
      }).pipe(inTransaction(sql))

    return {
      /**
       * Fans a batch out up to its limits. Returns the events that are fanned out or no longer exist, and the tenants with
       * progress: the caller can retry the other events of these tenants at once. All other events wait for a lock.
       */
      fanOut: (keys: ReadonlyArray<EventKey>, { maxDeliveries, maxEvents } = fanOutLimits) =>
        Effect.gen(function* () {
          const tenants = new Set(keys.map(({ tenant }) => tenant)).size
          const shareOf = (limit: number) => Math.max(1, Math.floor(limit / tenants))
          const limits = { maxEvents: shareOf(maxEvents), maxDeliveries: shareOf(maxDeliveries) }
          const { deliveryCount, steps } = yield* fanOutLocked(keys, limits)
          const done = new Set(steps.flatMap((step) => (step.done ? [step.event] : [])))
          const rest = keys.filter(({ id }) => !done.has(id))
          if (rest.length > 0) for (const { id } of yield* selectDone(rest)) done.add(id)
          return { done, deliveryCount, advancedTenants: new Set(steps.map(({ tenant }) => tenant)) }
        }).pipe(Effect.orDie),

      /** The next events of a tenant that are not fanned out yet, ordered by resource. */
      listWaiting: (tenant: string, after: Pick<WaitingEvent, "resource" | "sequence">, max: number) =>
        Effect.orDie(sql<WaitingEvent>`
          select tenant_id as tenant, event_id as id, resource_id as resource, sequence from event_feed
          where not fanned_out and tenant_id = ${tenant}
            and (resource_id, sequence) > (${after.resource}, ${after.sequence}::integer)
          order by resource_id, sequence limit ${max}`),

      /** The next tenants with events that are not fanned out yet. */
      listWaitingTenants: (after: string, max: number) =>
        Effect.orDie(sql<{ readonly tenant: string }>`
          with recursive waiting as (
            (select tenant_id from event_feed where not fanned_out and tenant_id > ${after} order by tenant_id limit 1)
            union all
            select next.tenant_id from waiting cross join lateral (
              select tenant_id from event_feed where not fanned_out and tenant_id > waiting.tenant_id
              order by tenant_id limit 1
            ) next
          )
          select tenant_id as tenant from waiting limit ${max}`)
    }
  }).pipe(withSpans("FanOut"))
}) {}

import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { makeId } from "../../Ids.ts"
import { atomically } from "../connection/Transaction.ts"
import { finishing } from "../connection/Transactions.ts"
import { enterLanes } from "./Lanes.ts"

export interface EventKey {
  readonly tenant: string
  readonly id: string
}

interface Match {
  readonly tenant: string
  readonly event: string
  readonly integration: string | null
  readonly type: string
  readonly resource: string
  readonly sequence: number
}

/** So many of one resource are brought along at a time. */
const mostBefore = 500

/** Decides who is to be told of an event, once and for all, and enters it into the ledger. */
export class FanOut extends Effect.Service<FanOut>()("layers/FanOut", {
  effect: Effect.map(SqlClient.SqlClient, (sql) => {
    /**
     * The events of a batch that can be fanned out, each with every integration that is to be told, or with none. An event
     * brings those before it of the same resource along: after a crash they come in any order, and would otherwise wait
     * for each other one by one. What another worker is at is left alone, and what comes behind it waits.
     */
    const matches = (keys: ReadonlyArray<EventKey>) => sql<Match>`
      with asked as (
        select feed.tenant_id, feed.event_id, feed.resource_id, feed.sequence
        from json_to_recordset(${JSON.stringify(keys)}::json) as given (tenant text, id text)
        join event_feed feed on feed.tenant_id = given.tenant and feed.event_id = given.id and not feed.fanned_out
      ), wanted as (
        select tenant_id, event_id from asked
        union
        select before.tenant_id, before.event_id
        from (select tenant_id, resource_id, max(sequence) as sequence from asked group by 1, 2) last
        cross join lateral (
          select * from event_feed feed
          where feed.tenant_id = last.tenant_id and feed.resource_id = last.resource_id
            and feed.sequence < last.sequence and not feed.fanned_out
          order by feed.sequence limit ${mostBefore}
        ) before
      ), held as (
        select feed.tenant_id, feed.event_id, feed.resource_id, feed.sequence
        from event_feed feed join wanted using (tenant_id, event_id)
        where not feed.fanned_out order by feed.position for update of feed skip locked
      ), ready as (
        select * from held where not exists (
          select 1 from event_feed before
          where before.tenant_id = held.tenant_id and before.resource_id = held.resource_id
            and before.sequence < held.sequence and not before.fanned_out
            and not exists (
              select 1 from held other where other.tenant_id = before.tenant_id and other.event_id = before.event_id)
        )
      )
      select ready.tenant_id as tenant, ready.event_id as event, integrations.id as integration, events.type,
        ready.resource_id as resource, ready.sequence
      from ready join events on events.tenant_id = ready.tenant_id and events.id = ready.event_id
      left join integrations on integrations.tenant_id = ready.tenant_id and integrations.provider <> 'JIRA'
        and case when events.type = 'integration.ping' then integrations.id = events.resource_id else exists (
          select 1 from subscriptions
          where subscriptions.tenant_id = integrations.tenant_id and subscriptions.integration_id = integrations.id
            and subscriptions.event_type in (events.type, split_part(events.type, '.', 1) || '.*')
            and (subscriptions.client_id is null or subscriptions.client_id = events.client_id))
        end`

    /** Enters them. Behind one of the same lane that is not finished a delivery has to wait. */
    const enter = (found: ReadonlyArray<Match>) => {
      const rows = found.flatMap((match) => (match.integration === null ? [] : [{ ...match, id: makeId("dlv") }]))
      const done = [...new Map(found.map(({ event, tenant }) => [event, { tenant, event }])).values()]
      return finishing(sql`
        with told as (
          select *, row_number() over (partition by tenant, integration, resource order by sequence) as place
          from json_to_recordset(${JSON.stringify(rows)}::json) as given
            (tenant text, id text, integration text, event text, type text, resource text, sequence integer)
        ), entered as (
          insert into deliveries (tenant_id, id, integration_id, event_id, event_type, resource_id, sequence, status,
            next_attempt_at, created_at, updated_at)
          select tenant, id, integration, event, type, resource, sequence,
            case when place = 1 and not exists (
              select 1 from deliveries before
              where before.tenant_id = told.tenant and before.integration_id = told.integration
                and before.resource_id = told.resource and before.status in ('WAITING', 'PENDING')
            ) then 'PENDING' else 'WAITING' end, now(), now(), now()
          from told
          on conflict (tenant_id, integration_id, event_id) do nothing
        )
        update event_feed set fanned_out = true
        from json_to_recordset(${JSON.stringify(done)}::json) as given (tenant text, event text)
        where tenant_id = given.tenant and event_id = given.event`)
    }

    const isDone = (keys: ReadonlyArray<EventKey>) => sql<{ id: string }>`
      select given.id from json_to_recordset(${JSON.stringify(keys)}::json) as given (tenant text, id text)
      left join event_feed on tenant_id = given.tenant and event_id = given.id
      where fanned_out is not false`

    return {
      /** Fans a batch out as far as possible; tells which of its events are done, now or before, or are no more. */
      fanOut: (keys: ReadonlyArray<EventKey>) =>
        Effect.gen(function* () {
          const entered = yield* atomically(sql)(
            Effect.tap(matches(keys), (found) => {
              const told = found.flatMap(({ integration, tenant }) => (integration ? [{ tenant, integration }] : []))
              return Effect.when(enterLanes(sql)(told), () => told.length > 0).pipe(
                Effect.zipRight(Effect.when(enter(found), () => found.length > 0))
              )
            })
          )
          const done = new Set(entered.map(({ event }) => event))
          const rest = keys.filter(({ id }) => !done.has(id))
          if (rest.length > 0) for (const { id } of yield* isDone(rest)) done.add(id)
          return { done, entered: entered.some(({ integration }) => integration !== null) }
        }).pipe(Effect.orDie)
    }
  })
}) {}

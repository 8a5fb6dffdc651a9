import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import type { TenantId } from "../../../domain/tenancy/Tenant.ts"

/** Where the last claim ended: the next goes on behind it, so that everybody's turn comes. */
export interface Turn {
  readonly tenant: string
  readonly integration: string
}

/** A delivery that is ours for a while, with all that is needed to send it. */
export interface Claimed extends Turn {
  readonly tenant: TenantId
  readonly id: string
  readonly lease: string
  /** How often it was tried, and how often before it was last sent again on demand. */
  readonly attempts: number
  readonly spent: number
  /** Whether who had it before did not come back. */
  readonly wasLost: boolean
  readonly provider: "WEBHOOK" | "NATS" | "GOOGLE_DRIVE"
  readonly config: Readonly<Record<string, unknown>>
  readonly secrets: ReadonlyArray<{ readonly generation: number; readonly sealed: string }> | null
  readonly event: string
  readonly type: string
  readonly timestamp: string
  readonly client: string | null
  readonly sequence: number
  readonly data: string
}

export interface Limits {
  /** Deliveries of one integration under way at a time; of one that fails, one only. */
  readonly each: number
  readonly most: number
}

export const leaseSeconds = 30

/** Deliveries that are due, to be sent by one worker and no other. */
export class Claims extends Effect.Service<Claims>()("layers/Claims", {
  effect: Effect.map(SqlClient.SqlClient, (sql) => {
    const until = sql.literal(`now() + interval '${leaseSeconds} seconds'`)

    return {
      /**
       * Takes what is due, integration by integration, whose number is what this costs, not that of what waits. The lock
       * makes sure that no other worker counts the same integration's at the same time. A lease that ran out means that
       * whoever had it did not come back: that attempt is lost.
       */
      claim: (lease: string, after: Turn, { each, most }: Limits) =>
        Effect.orDie(sql<Claimed>`
          with recursive queues as (
            (select tenant_id, integration_id from deliveries
             where status = 'PENDING' and (tenant_id, integration_id) > (${after.tenant}, ${after.integration})
             order by tenant_id, integration_id limit 1)
            union all
            select next.* from queues cross join lateral (
              select tenant_id, integration_id from deliveries
              where status = 'PENDING' and (tenant_id, integration_id) > (queues.tenant_id, queues.integration_id)
              order by tenant_id, integration_id limit 1
            ) next
          ), due as (
            select waiting.*, integrations.provider, integrations.config
            from queues
            join tenants on tenants.id = queues.tenant_id and tenants.deleted_at is null
            join integrations on integrations.tenant_id = queues.tenant_id
              and integrations.id = queues.integration_id and integrations.status = 'ACTIVE'
            cross join lateral (
              select 1 where pg_try_advisory_xact_lock(hashtextextended(queues.integration_id, 1)) offset 0
            ) alone
            cross join lateral (
              select deliveries.* from deliveries
              where tenant_id = queues.tenant_id and integration_id = queues.integration_id
                and status = 'PENDING' and next_attempt_at <= now()
              order by next_attempt_at
              limit greatest(0, case when integrations.failing_since is null then ${each} else 1 end - (
                select count(*) from deliveries flying
                where flying.tenant_id = queues.tenant_id and flying.integration_id = queues.integration_id
                  and flying.lease is not null and flying.leased_until > now()))
              for update skip locked
            ) waiting
            limit ${most}
          ), lost as (
            insert into delivery_attempts (tenant_id, delivery_id, number, attempted_at, outcome, error)
            select tenant_id, id, attempts + 1, leased_until - interval '${sql.literal(String(leaseSeconds))} seconds',
              'LOST', 'The worker that sent it did not come back'
            from due where lease is not null
          ), claimed as (
            update deliveries set lease = ${lease}, leased_until = ${until}, next_attempt_at = ${until},
              attempts = deliveries.attempts + case when due.lease is null then 0 else 1 end
            from due where deliveries.tenant_id = due.tenant_id and deliveries.id = due.id
            returning deliveries.*, due.provider, due.config, due.lease is not null as was_lost
          )
          select claimed.tenant_id as tenant, claimed.integration_id as integration, claimed.id, claimed.lease,
            claimed.attempts, claimed.spent, claimed.was_lost as "wasLost", claimed.provider, claimed.config,
            (select json_agg(json_build_object('generation', generation, 'sealed', encode(sealed, 'base64'))
                order by generation desc)
             from integration_secrets secrets
             where secrets.tenant_id = claimed.tenant_id and secrets.integration_id = claimed.integration_id
               and (expires_at is null or expires_at > now())) as secrets,
            events.id as event, events.type, events.occurred_at as timestamp, events.client_id as client,
            events.sequence, events.data::text as data
          from claimed join events on events.tenant_id = claimed.tenant_id and events.id = claimed.event_id
          order by claimed.tenant_id, claimed.integration_id`)
    }
  })
}) {}

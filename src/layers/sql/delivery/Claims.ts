import * as SqlClient from "@effect/sql/SqlClient"
import { Effect, Random } from "effect"
import { initialLimit, maxPerIntegration, type Pool } from "../../../domain/delivery/SendLimits.ts"
import type { TenantId } from "../../../domain/tenancy/Tenant.ts"

/** A delivery that is ours for a while, with all that is needed to send it. */
export interface Claimed {
  readonly tenant: TenantId
  readonly integration: string
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
  /** The integration's concurrency limit when this was claimed. */
  readonly sendLimit: number
}

/** What one claim may take. */
export interface ClaimLimits {
  /** Only for receivers of this pool. */
  readonly pool: Pool
  readonly max: number
  readonly maxPerTenant: number
  /** Tenants with a maximum of their own. */
  readonly tenants: Readonly<Record<string, number>>
  /** Integrations whose concurrency limit is another than the first one of their pool. */
  readonly receivers: Readonly<Record<string, number>>
}

export const leaseSeconds = 30

/** The concurrency limits that belong to each pool. */
const limitsIn: Readonly<Record<Pool, readonly [min: number, max: number]>> = {
  SLOW: [initialLimit.SLOW, initialLimit.NEW - 1],
  NEW: [initialLimit.NEW, initialLimit.PROVEN - 1],
  PROVEN: [initialLimit.PROVEN, maxPerIntegration]
}

/** Deliveries that are due, to be sent by one worker and no other. */
export class Claims extends Effect.Service<Claims>()("layers/Claims", {
  effect: Effect.map(SqlClient.SqlClient, (sql) => {
    const until = sql.literal(`now() + interval '${leaseSeconds} seconds'`)

    const sized = sql.literal(
      `case latency_class when 'PROVEN' then ${initialLimit.PROVEN} when 'SLOW' then ${initialLimit.SLOW} else ${initialLimit.NEW} end`
    )

    const claim = (lease: string, after: string, limits: ClaimLimits, salt: number) => {
      const [minLimit, maxLimit] = limitsIn[limits.pool]
      return sql<Claimed>`
          with recursive given as materialized (
            select ${JSON.stringify(limits.tenants)}::jsonb as tenants, ${JSON.stringify(limits.receivers)}::jsonb as receivers
          ), queues as (
            (select tenant_id from deliveries where status = 'PENDING' and tenant_id > ${after}
             order by tenant_id limit 1)
            union all
            select next.tenant_id from queues cross join lateral (
              select tenant_id from deliveries where status = 'PENDING' and tenant_id > queues.tenant_id
              order by tenant_id limit 1
            ) next
          ), due as (
            select taken.* from queues cross join given
            join tenants on tenants.id = queues.tenant_id and tenants.deleted_at is null
            cross join lateral (
              select waiting.*, receiver.provider, receiver.config, receiver.send_limit
              from (
                select integrations.*, coalesce((given.receivers ->> id)::integer, ${sized}) as send_limit
                from integrations where tenant_id = queues.tenant_id and status = 'ACTIVE'
                order by hashtextextended(id, ${salt})
              ) receiver
              cross join lateral (
                select true as is_due from deliveries
                where tenant_id = receiver.tenant_id and integration_id = receiver.id
                  and status = 'PENDING' and next_attempt_at <= now()
                limit 1
              ) first
              cross join lateral (
                select true as is_locked
                where first.is_due and pg_try_advisory_xact_lock(hashtextextended(receiver.id, 1)) offset 0
              ) alone
              cross join lateral (
                select deliveries.* from deliveries
                where alone.is_locked and tenant_id = receiver.tenant_id and integration_id = receiver.id
                  and status = 'PENDING' and next_attempt_at <= now()
                order by next_attempt_at
                limit greatest(0, case when receiver.failing_since is null then receiver.send_limit else 1 end - (
                  select count(*) from deliveries flying
                  where flying.tenant_id = receiver.tenant_id and flying.integration_id = receiver.id
                    and flying.lease is not null and flying.leased_until > now()))
                for update skip locked
              ) waiting
              where receiver.send_limit between ${minLimit} and ${maxLimit}
              limit coalesce((given.tenants ->> queues.tenant_id)::integer, ${limits.maxPerTenant})
            ) taken
            limit ${limits.max}
          ), lost as (
            insert into delivery_attempts (tenant_id, delivery_id, number, attempted_at, outcome, error)
            select tenant_id, id, attempts + 1, leased_until - interval '${sql.literal(String(leaseSeconds))} seconds',
              'LOST', 'The worker that sent it did not come back'
            from due where lease is not null
          ), claimed as (
            update deliveries set lease = ${lease}, leased_until = ${until}, next_attempt_at = ${until},
              attempts = deliveries.attempts + case when due.lease is null then 0 else 1 end
            from due where deliveries.tenant_id = due.tenant_id and deliveries.id = due.id
            returning deliveries.*, due.provider, due.config, due.send_limit, due.lease is not null as was_lost
          )
          select claimed.tenant_id as tenant, claimed.integration_id as integration, claimed.id, claimed.lease,
            claimed.attempts, claimed.spent, claimed.was_lost as "wasLost", claimed.provider, claimed.config,
            (select json_agg(json_build_object('generation', generation, 'sealed', encode(sealed, 'base64'))
                order by generation desc)
             from integration_secrets secrets
             where secrets.tenant_id = claimed.tenant_id and secrets.integration_id = claimed.integration_id
               and (expires_at is null or expires_at > now())) as secrets,
            events.id as event, events.type, events.occurred_at as timestamp, events.client_id as client,
            events.sequence, events.data::text as data, claimed.send_limit as "sendLimit"
          from claimed join events on events.tenant_id = claimed.tenant_id and events.id = claimed.event_id
          order by claimed.tenant_id, claimed.integration_id`
    }

    return {
      /**
       * Takes what is due, tenant by tenant behind the one where the last claim ended, each up to its allowance. The
       * integrations of a tenant come in another order each time, so that a busy one does not keep the others waiting.
       * The lock makes sure that no other worker counts the same integration's at the same time; only what has something
       * due is locked, which the planner must not turn round. A lease that ran out belongs to a worker that did not
       * come back: its attempt is lost.
       */
      claim: (lease: string, after: string, limits: ClaimLimits) =>
        Effect.orDie(Effect.flatMap(Random.nextInt, (salt) => claim(lease, after, limits, salt)))
    }
  })
}) {}

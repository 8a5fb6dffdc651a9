import type * as SqlClient from "@effect/sql/SqlClient"
import { initialLimit, maxInFlightPerIntegration, type SendPool } from "../../domain/delivery/SendLimits.ts"

/** Limits of one claim. */
export interface ClaimLimits {
  /** The claim takes only deliveries to receivers of this pool. */
  readonly pool: SendPool
  readonly max: number
  readonly maxPerTenant: number
  /** Overrides of `maxPerTenant`, by tenant. */
  readonly allowanceByTenant: Readonly<Record<string, number>>
  /** Concurrency limits that differ from the pool's initial limit, by integration. */
  readonly sendLimitByIntegration: Readonly<Record<string, number>>
}

/** The queue of one integration. The transaction has locked its row. */
export interface DueQueue {
  readonly tenant: string
  readonly integration: string
  /** Maximum of deliveries in flight to the integration, and of those claimed from all the tenant's queues. */
  readonly sendLimit: number
  readonly allowance: number
  /** Its `due_at` is too early: the queue has no due delivery. */
  readonly isStale: boolean
}

/** Queues that one claim reads from each pool. Rescheduling moves those it claims from to the end. */
const maxScannedQueues = 1000
/** Stale queues that one claim reschedules. */
export const maxStaleQueues = 500

/** Range of concurrency limits of each pool. */
const limitRanges: Readonly<Record<SendPool, readonly [min: number, max: number]>> = {
  SLOW: [initialLimit.SLOW, initialLimit.NEW - 1],
  NEW: [initialLimit.NEW, initialLimit.PROVEN - 1],
  PROVEN: [initialLimit.PROVEN, maxInFlightPerIntegration]
}

/**
 * Locks the queues of a claim, and some stale ones. The lock serializes the count of deliveries in flight to an
 * integration. The statement skips queues that another worker has locked. `salt` shuffles the integrations of a tenant on
 * each claim, so that a busy one cannot starve the others. A full queue stays due: the next recorded result frees a slot.
 */
export const lockQueues = (sql: SqlClient.SqlClient) => {
  const poolLimit = sql.literal(
    `case receiver.latency_class when 'PROVEN' then ${initialLimit.PROVEN} when 'SLOW' then ${initialLimit.SLOW} else ${initialLimit.NEW} end`
  )
  return (
    after: string,
    { max, maxPerTenant, pool, sendLimitByIntegration, allowanceByTenant }: ClaimLimits,
    salt: number
  ) => {
    const [minLimit, maxLimit] = limitRanges[pool]
    return sql<DueQueue>`
      with given as materialized (
        select ${JSON.stringify(allowanceByTenant)}::jsonb as tenants, ${JSON.stringify(sendLimitByIntegration)}::jsonb as receivers
      ), due as materialized (
        select queue.tenant_id, queue.integration_id,
          coalesce((given.tenants ->> queue.tenant_id)::integer, ${maxPerTenant}) as allowance
        from given cross join unnest(array['PROVEN', 'NEW', 'SLOW']) as known (pool)
        cross join lateral (
          select tenant_id, integration_id from delivery_queues
          where pool = known.pool and due_at <= now() and (given.tenants ->> tenant_id) is distinct from '0'
          order by due_at limit ${maxScannedQueues}
        ) queue
      ), looked as (
        select due.*, receiver.send_limit, not (coalesce(receiver.is_open, false) and first.is_due) as is_stale,
          receiver.max_in_flight <= (
            select count(*) from deliveries flying
            where flying.tenant_id = due.tenant_id and flying.integration_id = due.integration_id
              and flying.lease is not null and flying.leased_until > now()
          ) as is_full
        from given cross join due
        left join lateral (
          select status = 'ACTIVE' and (select deleted_at is null from tenants where id = due.tenant_id) as is_open,
            coalesce((given.receivers ->> id)::integer, ${poolLimit}) as send_limit,
            case when failing_since is null then coalesce((given.receivers ->> id)::integer, ${poolLimit}) else 1 end
              as max_in_flight
          from integrations receiver where tenant_id = due.tenant_id and id = due.integration_id limit 1
        ) receiver on true
        cross join lateral (
          select coalesce((
            select next_attempt_at <= now() from deliveries
            where tenant_id = due.tenant_id and integration_id = due.integration_id
              and status = 'PENDING' and next_attempt_at is not null
            order by next_attempt_at limit 1
          ), false) as is_due
        ) first
      ), wanted as (
        (select *, 0 as turn from looked where is_stale limit ${maxStaleQueues})
        union all
        (select * from (
          select *, row_number() over (
            partition by tenant_id order by hashtextextended(integration_id, ${salt})
          ) as turn
          from looked
          where not is_stale and not is_full and tenant_id > ${after} and send_limit between ${minLimit} and ${maxLimit}
        ) ready
        where turn <= allowance order by tenant_id, turn limit ${max})
      )
      select tenant_id as tenant, integration_id as integration, send_limit as "sendLimit", allowance,
        is_stale as "isStale"
      from (select * from wanted order by tenant_id, turn) wanted cross join lateral (
        select true as is_locked from delivery_queues
        where tenant_id = wanted.tenant_id and integration_id = wanted.integration_id
        for update skip locked
      ) queue
      order by tenant_id, turn`
  }
}

/** Updates when locked queues are due next, and deletes those without pending deliveries. */
export const rescheduleQueues =
  (sql: SqlClient.SqlClient) => (queues: ReadonlyArray<Pick<DueQueue, "tenant" | "integration">>) => {
    const keys = JSON.stringify(queues.map(({ integration, tenant }) => ({ integration, tenant })))
    return sql`
      with next as materialized (
        select queue.row, coalesce(receiver.latency_class, 'NEW') as pool,
          case when receiver.is_open then greatest(first.next_attempt_at, now()) else 'infinity' end as due_at,
          first.next_attempt_at is null as is_empty
        from json_to_recordset(${keys}::json) as given (tenant text, integration text)
        cross join lateral (
          select ctid as row from delivery_queues
          where tenant_id = given.tenant and integration_id = given.integration limit 1
        ) queue
        left join lateral (
          select latency_class,
            status = 'ACTIVE' and (select deleted_at is null from tenants where id = given.tenant) as is_open
          from integrations where tenant_id = given.tenant and id = given.integration limit 1
        ) receiver on true
        left join lateral (
          select next_attempt_at from deliveries
          where tenant_id = given.tenant and integration_id = given.integration
            and status = 'PENDING' and next_attempt_at is not null
          order by next_attempt_at limit 1
        ) first on true
      ), emptied as (
        delete from delivery_queues where ctid = any (array(select row from next where is_empty))
      )
      update delivery_queues queue set due_at = next.due_at, pool = next.pool from next
      where not next.is_empty and queue.ctid = any (array(select row from next)) and queue.ctid = next.row`
  }

import type * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"

const batchSize = 500

/**
 * Makes deliveries to NATS integrations that wait for a retry due at once, in batches. Only attempts before the call
 * count: an attempt that fails meanwhile, because the broker is away again, waits as usual.
 */
export const retryNatsDeliveries = (sql: SqlClient.SqlClient) => {
  const retryBatch = (before: string) => sql<{ readonly count: number }>`
    with waiting as materialized (
      select delivery.row from integrations cross join lateral (
        select ctid as row from deliveries
        where integration_id = integrations.id and tenant_id = integrations.tenant_id
          and status = 'PENDING' and next_attempt_at > now() and lease is null and updated_at < ${before}::timestamptz
        limit ${batchSize} for update skip locked
      ) delivery
      where integrations.provider = 'NATS' limit ${batchSize}
    ), retried as (
      update deliveries set next_attempt_at = now() where ctid = any (array(select row from waiting)) returning 1
    )
    select count(*)::integer as count from retried`

  return Effect.gen(function* () {
    const [clock] = yield* sql<{ readonly now: string }>`select now()::text as now`
    const before = clock?.now ?? ""
    yield* Effect.repeat(retryBatch(before), { while: ([row]) => row?.count === batchSize })
  })
}

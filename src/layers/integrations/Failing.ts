import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import type { IntegrationId } from "../../domain/integrations/Integration.ts"
import type { TenantId } from "../../domain/tenancy/Tenant.ts"

export const longestFailing = { hours: 72 } as const

const reason = `Nothing but failures for ${longestFailing.hours} hours`

/** So many a round at the most; who is left is found by the next. */
const most = 1000

interface Failing {
  readonly tenant: TenantId
  readonly id: IntegrationId
}

/** Moves integrations nothing has reached for long to ERROR, by `fail`. One that cannot be moved stops no other. */
export const failLongFailing = Effect.fnUntraced(function* <E, R>(
  fail: (tenant: TenantId, id: IntegrationId, reason: string) => Effect.Effect<void, E, R>
) {
  const sql = yield* SqlClient.SqlClient
  const failing = yield* Effect.orDie(sql<Failing>`
    select i.tenant_id as tenant, i.id from integrations i
    join tenants t on t.id = i.tenant_id and t.deleted_at is null
    where i.status = 'ACTIVE' and i.failing_since <= now() - make_interval(hours => ${longestFailing.hours})
    order by i.failing_since limit ${most}`)
  for (const { id, tenant } of failing) {
    yield* Effect.catchAllCause(fail(tenant, id, reason), (cause) =>
      Effect.logWarning(`Integration ${id} fails for long and could not be stopped`, cause)
    )
  }
})

import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import type { IntegrationId } from "../../domain/integrations/Integration.ts"
import type { TenantId } from "../../domain/tenancy/Tenant.ts"

export const maxFailingDuration = { hours: 72 } as const

const reason = `Nothing but failures for ${maxFailingDuration.hours} hours`

/** Limit of one round. The next round finds the rest. */
const maxPerRound = 1000

interface FailingIntegration {
  readonly tenant: TenantId
  readonly id: IntegrationId
}

/** Calls `fail` for each integration that has failed for too long without a success. An error with one does not stop the others. */
export const failUnreachableIntegrations = Effect.fnUntraced(function* <E, R>(
  fail: (tenant: TenantId, id: IntegrationId, reason: string) => Effect.Effect<void, E, R>
) {
  const sql = yield* SqlClient.SqlClient
  const failing = yield* Effect.orDie(sql<FailingIntegration>`
    select i.tenant_id as tenant, i.id from integrations i
    join tenants t on t.id = i.tenant_id and t.deleted_at is null
    where i.status = 'ACTIVE' and i.failing_since <= now() - make_interval(hours => ${maxFailingDuration.hours})
    order by i.failing_since limit ${maxPerRound}`)
  for (const { id, tenant } of failing) {
    yield* Effect.catchAllCause(fail(tenant, id, reason), (cause) =>
      Effect.logWarning(`Could not stop failing integration ${id}`, cause)
    )
  }
})

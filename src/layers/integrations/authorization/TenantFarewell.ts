import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { isTracker } from "../../../domain/integrations/Integration.ts"
import type { Provider } from "../../../domain/integrations/Provider.ts"
import type { TenantId } from "../../../domain/tenancy/Tenant.ts"
import { TrackerFarewell } from "../jiraWebhooks/Farewell.ts"
import { GivingBack } from "./GivingBack.ts"

interface Connected {
  readonly id: string
  readonly provider: Provider
}

/** A provider that is gone for good keeps no tenant from being erased. */
const patience = "20 seconds"
const atOnce = 8

/** Lets go of everything a tenant had let us into, as well as that goes. */
export class TenantFarewell extends Effect.Service<TenantFarewell>()("layers/TenantFarewell", {
  dependencies: [GivingBack.Default, TrackerFarewell.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const givingBack = yield* GivingBack
    const trackers = yield* TrackerFarewell

    const connected = (tenant: TenantId) =>
      Effect.orDie(sql<Connected>`
        select id, provider from integrations i where tenant_id = ${tenant} and (
          exists (select 1 from grants g where g.tenant_id = i.tenant_id and g.integration_id = i.id)
          or exists (select 1 from pending_grants p where p.tenant_id = i.tenant_id and p.integration_id = i.id))`)

    /** What opens the tracker goes last. */
    const leave = (tenant: TenantId, { id, provider }: Connected) =>
      Effect.zipRight(
        Effect.when(trackers.before(tenant, id), () => isTracker(provider)),
        givingBack.all(tenant, id, provider)
      )

    return {
      of: (tenant: TenantId) =>
        Effect.flatMap(connected(tenant), (all) =>
          Effect.forEach(all, (one) => leave(tenant, one), { concurrency: atOnce, discard: true })
        ).pipe(
          Effect.timeout(patience),
          Effect.catchAllCause((cause) => Effect.logInfo(`Not all providers of tenant ${tenant} were told`, cause))
        )
    }
  })
}) {}

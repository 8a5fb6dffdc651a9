import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { type Integration, statusReasonOf } from "../../../domain/integrations/Integration.ts"
import { canMove, integrationMoves } from "../../../domain/integrations/IntegrationStatus.ts"
import { CurrentTenant } from "../../../domain/tenancy/Caller.ts"
import type { TenantId } from "../../../domain/tenancy/Tenant.ts"
import { atomically } from "../../postgres/connection/Transaction.ts"
import type { Versioned } from "../../postgres/repository/ResourceSpec.ts"
import { Integrations } from "../Integrations.ts"

/** Status changes of an integration: authorized, authorization failed, authorization lost. */
export class AuthorizationMoves extends Effect.Service<AuthorizationMoves>()("layers/AuthorizationTransitions", {
  dependencies: [Integrations.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const integrations = yield* Integrations

    /** Locks the newest version and runs `work` on it. Does nothing after a deletion. */
    const withLocked = <A, E>(
      tenant: TenantId,
      id: string,
      work: (seen: Versioned<Integration>) => Effect.Effect<A, E, CurrentTenant>
    ) =>
      Effect.flatMap(integrations.held(id), work).pipe(
        Effect.asVoid,
        Effect.catchTag("NotFound", () => Effect.void),
        Effect.orDie,
        atomically(sql),
        Effect.provideService(CurrentTenant, tenant)
      )

    return {
      /** Marks a locked integration as authorized for a site. A paused one stays paused. */
      authorized: ({ sequence, value }: Versioned<Integration>, siteId: string | undefined) => {
        const { statusReason: _, ...rest } = value
        const status = canMove(value.status, "authorize") ? integrationMoves.authorize.to : value.status
        const config = siteId === undefined ? value.config : { ...value.config, siteId }
        const next = { ...rest, config, status, isAuthorized: true }
        const { event } = integrationMoves.authorize
        const writeOptions = { columns: { failing_since: null }, isLast: true }
        return Effect.orDie(integrations.rewrite({ sequence, value }, event, next, writeOptions))
      },

      /** Records why an authorization failed, unless the integration is authorized already. */
      note: (tenant: TenantId, id: string, reason: string) => {
        const statusReason = statusReasonOf(reason)
        return withLocked(tenant, id, (seen) =>
          seen.value.isAuthorized || seen.value.statusReason === statusReason
            ? Effect.void
            : Effect.asVoid(integrations.rewrite(seen, "updated", { ...seen.value, statusReason }, { isLast: true }))
        )
      },

      /** Stops an integration that lost its authorization, if `isStillLost` confirms it under the lock. */
      lose: (tenant: TenantId, id: string, reason: string, isStillLost: Effect.Effect<boolean>) =>
        withLocked(tenant, id, (seen) =>
          Effect.flatMap(isStillLost, (isLost) => {
            if (!isLost || !canMove(seen.value.status, "lose")) return Effect.void
            const { event, to } = integrationMoves.lose
            const next = { ...seen.value, status: to, statusReason: statusReasonOf(reason), isAuthorized: false }
            return Effect.asVoid(integrations.rewrite(seen, event, next, { isLast: true }))
          })
        )
    }
  })
}) {}

import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { type Integration, toStatusReason } from "../../../domain/integrations/Integration.ts"
import { canTransitionIntegration, integrationTransitions } from "../../../domain/integrations/IntegrationStatus.ts"
import { CurrentTenant } from "../../../domain/tenancy/RequestContext.ts"
import type { TenantId } from "../../../domain/tenancy/Tenant.ts"
import { inTransaction } from "../../infra/postgres/connection/Transactions.ts"
import type { Versioned } from "../../infra/postgres/repository/ResourceSpec.ts"
import type { WriteOptions } from "../../infra/postgres/repository/ResourceWriter.ts"
import { withSpans } from "../../infra/telemetry/UseCaseSpans.ts"
import { Integrations } from "../Integrations.ts"

/** Status changes of an integration: authorized, authorization failed, authorization lost. */
export class AuthorizationTransitions extends Effect.Service<AuthorizationTransitions>()(
  "layers/AuthorizationTransitions",
  {
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
        Effect.flatMap(integrations.lockForUpdate(id), work).pipe(
          Effect.asVoid,
          Effect.catchTag("NotFound", () => Effect.void),
          Effect.orDie,
          inTransaction(sql),
          Effect.provideService(CurrentTenant, tenant)
        )

      return {
        /** Marks a locked integration as authorized for a site. A paused one stays paused. */
        authorize: ({ sequence, value }: Versioned<Integration>, siteId: string | undefined) => {
          const { statusReason: _, ...rest } = value
          const status = canTransitionIntegration(value.status, "authorize")
            ? integrationTransitions.authorize.to
            : value.status
          const config = siteId === undefined ? value.config : { ...value.config, siteId }
          const next = { ...rest, config, status, isAuthorized: true }
          const { event } = integrationTransitions.authorize
          const writeOptions: WriteOptions = { columns: { failing_since: null }, commit: true }
          return Effect.orDie(integrations.updateLocked({ sequence, value }, event, next, writeOptions))
        },

        /** Records why an authorization failed, unless the integration is authorized already. */
        recordFailure: (tenant: TenantId, id: string, reason: string) => {
          const statusReason = toStatusReason(reason)
          return withLocked(tenant, id, (seen) =>
            seen.value.isAuthorized || seen.value.statusReason === statusReason
              ? Effect.void
              : Effect.asVoid(
                  integrations.updateLocked(seen, "updated", { ...seen.value, statusReason }, { commit: true })
                )
          )
        },

        /** Stops an integration that lost its authorization, if `isStillLost` confirms it under the lock. */
        lose: (tenant: TenantId, id: string, reason: string, isStillLost: Effect.Effect<boolean>) =>
          withLocked(tenant, id, (seen) =>
            Effect.flatMap(isStillLost, (isLost) => {
              if (!isLost || !canTransitionIntegration(seen.value.status, "lose")) return Effect.void
              const { event, to } = integrationTransitions.lose
              const next = { ...seen.value, status: to, statusReason: toStatusReason(reason), isAuthorized: false }
              return Effect.asVoid(integrations.updateLocked(seen, event, next, { commit: true }))
            })
          )
      }
    }).pipe(withSpans("AuthorizationTransitions"))
  }
) {}

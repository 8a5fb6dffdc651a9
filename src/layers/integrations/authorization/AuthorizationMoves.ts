import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { type Integration, statusReasonOf } from "../../../domain/integrations/Integration.ts"
import { canMove, integrationMoves } from "../../../domain/integrations/IntegrationStatus.ts"
import { CurrentTenant } from "../../../domain/tenancy/Caller.ts"
import type { TenantId } from "../../../domain/tenancy/Tenant.ts"
import { atomically } from "../../postgres/connection/Transaction.ts"
import type { Versioned } from "../../postgres/repository/ResourceSpec.ts"
import { Integrations } from "../Integrations.ts"

/** What comes of an integration when it is authorized, when that fails, and when it is over. */
export class AuthorizationMoves extends Effect.Service<AuthorizationMoves>()("layers/AuthorizationMoves", {
  dependencies: [Integrations.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const integrations = yield* Integrations

    /** Works on the newest version, held, if the integration is there still. */
    const onHeld = <A, E>(
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
      /** For a version that is held, with the site it is for from now on. One that was paused meanwhile stays paused. */
      authorized: ({ sequence, value }: Versioned<Integration>, siteId: string | undefined) => {
        const { statusReason: _, ...rest } = value
        const status = canMove(value.status, "authorize") ? integrationMoves.authorize.to : value.status
        const config = siteId === undefined ? value.config : { ...value.config, siteId }
        const next = { ...rest, config, status, isAuthorized: true }
        const { event } = integrationMoves.authorize
        const along = { columns: { failing_since: null }, isLast: true }
        return Effect.orDie(integrations.rewrite({ sequence, value }, event, next, along))
      },

      /** Says why an authorization came to nothing, where somebody waits for one. */
      note: (tenant: TenantId, id: string, reason: string) => {
        const statusReason = statusReasonOf(reason)
        return onHeld(tenant, id, (seen) =>
          seen.value.isAuthorized || seen.value.statusReason === statusReason
            ? Effect.void
            : Effect.asVoid(integrations.rewrite(seen, "updated", { ...seen.value, statusReason }, { isLast: true }))
        )
      },

      /** Stops what is authorized no more, if that `isStill` so now that nobody else can change it. */
      lose: (tenant: TenantId, id: string, reason: string, isStill: Effect.Effect<boolean>) =>
        onHeld(tenant, id, (seen) =>
          Effect.flatMap(isStill, (so) => {
            if (!so || !canMove(seen.value.status, "lose")) return Effect.void
            const { event, to } = integrationMoves.lose
            const next = { ...seen.value, status: to, statusReason: statusReasonOf(reason), isAuthorized: false }
            return Effect.asVoid(integrations.rewrite(seen, event, next, { isLast: true }))
          })
        )
    }
  })
}) {}

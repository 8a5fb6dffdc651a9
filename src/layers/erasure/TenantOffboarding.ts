import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { isTracker } from "../../domain/integrations/Integration.ts"
import type { Provider } from "../../domain/integrations/Provider.ts"
import type { TenantId } from "../../domain/tenancy/Tenant.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"
import { TokenRevocation } from "../integrations/authorization/TokenRevocation.ts"
import { JiraWebhookRemoval } from "../trackers/jira/JiraWebhookRemoval.ts"

interface ConnectedIntegration {
  readonly id: string
  readonly provider: Provider
}

/** Bounds the whole offboarding: an unreachable provider must not prevent the erasure of a tenant. */
const timeout = "20 seconds"
const maxConcurrency = 8

/** Removes a tenant's webhooks from Jira and revokes its tokens, as far as possible. */
export class TenantOffboarding extends Effect.Service<TenantOffboarding>()("layers/TenantOffboarding", {
  dependencies: [TokenRevocation.Default, JiraWebhookRemoval.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const tokenRevocation = yield* TokenRevocation
    const webhookRemoval = yield* JiraWebhookRemoval

    const selectConnected = (tenant: TenantId) =>
      Effect.orDie(sql<ConnectedIntegration>`
        select id, provider from integrations i where tenant_id = ${tenant} and (
          exists (select 1 from grants g where g.tenant_id = i.tenant_id and g.integration_id = i.id)
          or exists (select 1 from pending_grants p where p.tenant_id = i.tenant_id and p.integration_id = i.id))`)

    /** Revokes the tokens last: the removal of the webhooks needs them. */
    const disconnect = (tenant: TenantId, { id, provider }: ConnectedIntegration) =>
      Effect.zipRight(
        Effect.when(webhookRemoval.removeWebhooks(tenant, id), () => isTracker(provider)),
        tokenRevocation.revokeAll(tenant, id, provider)
      )

    return {
      disconnectProviders: (tenant: TenantId) =>
        Effect.flatMap(selectConnected(tenant), (all) =>
          Effect.forEach(all, (one) => disconnect(tenant, one), { concurrency: maxConcurrency, discard: true })
        ).pipe(
          Effect.timeout(timeout),
          Effect.catchAllCause((cause) =>
            Effect.logInfo(`Could not revoke all provider access of tenant ${tenant}`, cause)
          )
        )
    }
  }).pipe(withSpans("TenantOffboarding"))
}) {}

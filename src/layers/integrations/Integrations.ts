import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { invalid } from "../../domain/Errors.ts"
import type { EventType } from "../../domain/events/Catalogue.ts"
import {
  type Config,
  type CreateIntegration,
  configAfter,
  configFaults,
  freshFor,
  Integration,
  isSigned,
  isTracker,
  mayConnect,
  mayGoOn,
  mayPing,
  mayRotate,
  type PatchIntegration,
  statusReasonOf
} from "../../domain/integrations/Integration.ts"
import {
  canMove,
  type IntegrationMove,
  integrationMoves,
  mayMove
} from "../../domain/integrations/IntegrationStatus.ts"
import type { Provider } from "../../domain/integrations/Provider.ts"
import { requireRotation } from "../../domain/integrations/SecretRotation.ts"
import { patched } from "../../domain/Schemas.ts"
import { CurrentTenant } from "../../domain/tenancy/Caller.ts"
import type { TenantId } from "../../domain/tenancy/Tenant.ts"
import { Events } from "../events/Events.ts"
import { OAuthApps } from "../oauth/Apps.ts"
import { atomically } from "../postgres/connection/Transaction.ts"
import { recording } from "../postgres/repository/EventLog.ts"
import { resource } from "../postgres/repository/Resource.ts"
import type { Versioned } from "../postgres/repository/ResourceSpec.ts"
import { Quotas } from "../quotas/Quotas.ts"
import { Targets } from "../webhook/Target.ts"
import { IntegrationSecrets } from "./IntegrationSecrets.ts"
import { WebhookEndpoints } from "./WebhookEndpoints.ts"

/**
 * What lies beside an integration and goes at once when it is deleted: some of it opens something, and a quota bounds all
 * of it. What may be without bounds the janitor removes.
 */
const parts = [
  "grants",
  "pending_grants",
  "oauth_states",
  "integration_secrets",
  "webhook_endpoints",
  "tracker_webhooks",
  "subscriptions",
  "redeliveries"
]

/** Links to the outside: what each is told of, how it is reached, and whether that works. */
export class Integrations extends Effect.Service<Integrations>()("layers/Integrations", {
  dependencies: [
    Events.Default,
    IntegrationSecrets.Default,
    OAuthApps.Default,
    Quotas.Default,
    WebhookEndpoints.Default,
    Targets.Default
  ],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const events = yield* Events
    const secrets = yield* IntegrationSecrets
    const endpoints = yield* WebhookEndpoints
    const apps = yield* OAuthApps
    const targets = yield* Targets
    const quotas = yield* Quotas
    const integrations = yield* resource({
      name: "integration",
      table: "integrations",
      entity: Integration,
      removal: "update integrations this set deleted_at = now(), sequence = this.sequence + 1"
    })
    const record = recording(sql, sql.literal("changed"))

    /** Fails unless the settings are the provider's, and lead somewhere events may go. */
    const mayUse = Effect.fnUntraced(function* (provider: Provider, config: Config) {
      const faults = configFaults(provider, config)
      if (faults.length > 0) return yield* Effect.fail(invalid(...faults))
      if (config.url !== undefined) yield* targets.check(config.url)
    })

    const made = (fields: Pick<Integration, "provider" | "name" | "config">) =>
      Effect.gen(function* () {
        const isInbound = isTracker(fields.provider)
        yield* quotas.requireRoom("integrations", "provider")
        const integration = yield* integrations.create({ ...fields, ...freshFor(fields.provider) })
        const secret = isSigned(fields.provider) ? yield* secrets.first(integration.id) : undefined
        const webhookUrl = isInbound ? yield* endpoints.first(integration.id) : undefined
        return { integration, secret, webhookUrl }
      }).pipe(atomically(sql))

    /** Moves what is held. Why it stands where it stands is told anew with each move. */
    const move = (name: IntegrationMove, { sequence, value }: Versioned<Integration>, reason?: string) => {
      const { event, to } = integrationMoves[name]
      const { statusReason: _, ...rest } = value
      const next = { ...rest, status: to, ...(reason === undefined ? {} : { statusReason: statusReasonOf(reason) }) }
      const columns = name === "resume" ? { failing_since: null } : {}
      return integrations.rewrite({ sequence, value }, event, next, { columns, isLast: true })
    }

    const moving = (name: IntegrationMove) => (id: string) =>
      integrations.hold(id).pipe(
        Effect.tap(({ value }) => mayMove(value.status, name)),
        Effect.tap(({ value }) => (name === "resume" ? mayGoOn(value) : Effect.void)),
        Effect.flatMap((seen) => move(name, seen)),
        atomically(sql)
      )

    /** Records a ping. The integration stays as it is, but for the number of its last event. */
    const ping = Effect.fnUntraced(function* (id: string) {
      const seen = yield* integrations.hold(id)
      yield* mayPing(seen.value)
      const tenant = yield* CurrentTenant
      const sequence = seen.sequence + 1
      const event = record({
        tenant,
        type: "integration.ping" satisfies EventType,
        resource: id,
        client: undefined,
        sequence,
        at: new Date().toISOString(),
        data: seen.value
      })
      yield* sql`
        with changed as (
          update integrations set sequence = ${sequence} where tenant_id = ${tenant} and id = ${id} returning 1
        ) ${event}`
      return yield* events.ofResource(id, sequence)
    })

    return {
      ...integrations,

      /** A new integration and, where it has one, the secret that signs what it is sent, or where it sends webhooks. */
      create: ({ config = {}, name, provider }: typeof CreateIntegration.Type) =>
        Effect.gen(function* () {
          yield* mayConnect(provider, apps.missing(provider))
          yield* mayUse(provider, config)
          return yield* made({ provider, name, config })
        }),

      patch: (id: string, change: typeof PatchIntegration.Type) =>
        Effect.gen(function* () {
          // Where an address leads is looked up before anything is held; the provider never changes.
          const { provider } = yield* integrations.get(id)
          if (change.config !== undefined) yield* mayUse(provider, change.config)
          return yield* integrations.revise(id, (before) =>
            Effect.map(configAfter(before, change.config ?? before.config), (config) =>
              patched(before, { ...change, config })
            )
          )
        }),

      /** Deletes an integration: from now on it is not there for anybody but the janitor. */
      remove: (id: string) =>
        Effect.gen(function* () {
          const tenant = yield* CurrentTenant
          const seen = yield* integrations.hold(id)
          const besides = parts.map(
            (part) => sql`${sql(`gone_${part}`)} as (
              delete from ${sql(part)} where tenant_id = ${tenant} and integration_id = ${id})`
          )
          yield* integrations.discard(seen, { besides, isLast: true })
        }).pipe(atomically(sql)),

      pause: moving("pause"),
      resume: moving("resume"),
      ping: (id: string) => atomically(sql)(ping(id)),

      rotateSecret: (id: string, overlapHours: number) =>
        Effect.gen(function* () {
          const seen = yield* integrations.hold(id)
          yield* mayRotate(seen.value)
          const keeper = isTracker(seen.value.provider) ? endpoints : secrets
          const replaced = yield* quotas.countUpToMax("secrets", yield* keeper.replaced(id))
          yield* requireRotation(replaced, overlapHours, quotas.maxOf("secrets"))
          const { besides, ...shown } = yield* keeper.rotating(id, overlapHours)
          const integration = yield* integrations.rewrite(seen, "updated", seen.value, { besides, isLast: true })
          return { integration, ...shown }
        }).pipe(atomically(sql)),

      /** For who sends: what signs at the moment, newest first. */
      secretsOf: (tenant: TenantId, id: string) => secrets.of(tenant, id),

      /** For who sends: stops an integration that cannot go on; one that is stopped already, or gone, stays so. */
      fail: (tenant: TenantId, id: string, reason: string) =>
        integrations.held(id).pipe(
          Effect.flatMap((seen) =>
            canMove(seen.value.status, "fail") ? Effect.asVoid(move("fail", seen, reason)) : Effect.void
          ),
          Effect.catchTag("NotFound", () => Effect.void),
          Effect.asVoid,
          atomically(sql),
          Effect.provideService(CurrentTenant, tenant)
        )
    }
  })
}) {}

import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { fieldError, requireNoErrors } from "../../domain/Errors.ts"
import type { EventType } from "../../domain/events/EventCatalogue.ts"
import {
  applyConfigChange,
  type CreateIntegration,
  configErrors,
  hasSigningSecret,
  Integration,
  type IntegrationConfig,
  initialIntegrationState,
  isTracker,
  type PatchIntegration,
  requireAuthorized,
  requireMailLogin,
  requirePingable,
  requireProviderConfigured,
  requireRotatableSecret,
  toStatusReason
} from "../../domain/integrations/Integration.ts"
import {
  canTransitionIntegration,
  type IntegrationTransition,
  integrationTransitions,
  requireIntegrationTransition
} from "../../domain/integrations/IntegrationStatus.ts"
import type { Provider } from "../../domain/integrations/Provider.ts"
import { requireSecretQuota } from "../../domain/integrations/SecretRotation.ts"
import { applyPatch } from "../../domain/Schemas.ts"
import { CurrentTenant } from "../../domain/tenancy/RequestContext.ts"
import type { TenantId } from "../../domain/tenancy/Tenant.ts"
import { Events } from "../events/Events.ts"
import { OAuthApps } from "../infra/oauth/OAuthApps.ts"
import { inTransaction } from "../infra/postgres/connection/Transactions.ts"
import { currentOrigin, insertEvent } from "../infra/postgres/repository/EventLog.ts"
import { makeResource } from "../infra/postgres/repository/Resource.ts"
import type { Versioned } from "../infra/postgres/repository/ResourceSpec.ts"
import { operatorServer } from "../infra/smtp/OperatorServer.ts"
import { SmtpClient } from "../infra/smtp/SmtpClient.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"
import { SsrfGuard } from "../infra/webhook/SsrfGuard.ts"
import { Quotas } from "../quotas/Quotas.ts"
import { InboundEndpoints } from "./InboundEndpoints.ts"
import { IntegrationSecrets } from "./IntegrationSecrets.ts"

/**
 * Tables whose rows are deleted in the same statement as the integration: some contain credentials, and quotas bound all of them.
 * The janitor deletes rows of unbounded tables.
 */
const ownedTables = [
  "grants",
  "pending_grants",
  "oauth_states",
  "integration_secrets",
  "webhook_endpoints",
  "tracker_webhooks",
  "subscriptions",
  "redeliveries"
]

/** Connections to external systems, with their configuration, subscriptions and status. */
export class Integrations extends Effect.Service<Integrations>()("layers/Integrations", {
  dependencies: [
    Events.Default,
    IntegrationSecrets.Default,
    OAuthApps.Default,
    Quotas.Default,
    InboundEndpoints.Default,
    SmtpClient.Default,
    SsrfGuard.Default
  ],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const events = yield* Events
    const secrets = yield* IntegrationSecrets
    const endpoints = yield* InboundEndpoints
    const apps = yield* OAuthApps
    const targets = yield* SsrfGuard
    const quotas = yield* Quotas
    const smtp = yield* SmtpClient
    const operator = yield* operatorServer
    const integrations = yield* makeResource({
      name: "integration",
      table: "integrations",
      entity: Integration,
      deleteSql: "update integrations this set deleted_at = now(), sequence = this.sequence + 1"
    })
    const record = insertEvent(sql, sql.literal("changed"))

    /** Fails unless the mail server passes the SSRF guard, or the operator has one for all tenants. */
    const requireMailServer = Effect.fnUntraced(function* ({ host, port }: IntegrationConfig) {
      if (host === undefined || port === undefined) return yield* requireProviderConfigured("EMAIL", operator.missing)
      const reason = yield* smtp.findServerError({ host, port })
      if (reason !== undefined) return yield* Effect.fail(fieldError("config.host", "format", reason))
    })

    /** Fails unless the config fits the provider, and the address of its server passes the SSRF guard. */
    const requireUsableConfig = Effect.fnUntraced(function* (provider: Provider, config: IntegrationConfig) {
      yield* requireNoErrors(configErrors(provider, config))
      if (config.url !== undefined) yield* targets.requireAllowedUrl(config.url)
      if (provider === "EMAIL") yield* requireMailServer(config)
    })

    const insertWithCredentials = (
      fields: Pick<Integration, "provider" | "name" | "config">,
      password: string | undefined
    ) =>
      Effect.gen(function* () {
        const isInbound = isTracker(fields.provider)
        yield* quotas.requireTenantQuota("integrations", "provider")
        const integration = yield* integrations.create({ ...fields, ...initialIntegrationState(fields.provider) })
        const secret = hasSigningSecret(fields.provider) ? yield* secrets.issueFirst(integration.id) : undefined
        if (password !== undefined) yield* secrets.savePassword(integration.id, password)
        const webhookUrl = isInbound ? yield* endpoints.issueFirst(integration.id) : undefined
        return { integration, secret, webhookUrl }
      }).pipe(inTransaction(sql))

    /** Changes the status of a locked integration. Each change replaces the status reason. */
    const applyTransition = (
      name: IntegrationTransition,
      { sequence, value }: Versioned<Integration>,
      reason?: string
    ) => {
      const { event, to } = integrationTransitions[name]
      const { statusReason: _, ...rest } = value
      const next = { ...rest, status: to, ...(reason === undefined ? {} : { statusReason: toStatusReason(reason) }) }
      const columns = name === "resume" ? { failing_since: null } : {}
      return integrations.updateLocked({ sequence, value }, event, next, { columns, commit: true })
    }

    const transitionTo = (name: IntegrationTransition) => (id: string) =>
      integrations.lockForWrite(id).pipe(
        Effect.tap(({ value }) => requireIntegrationTransition(value.status, name)),
        Effect.tap(({ value }) => (name === "resume" ? requireAuthorized(value) : Effect.void)),
        Effect.flatMap((seen) => applyTransition(name, seen)),
        inTransaction(sql)
      )

    /** Records a ping event. Only the integration's sequence changes. */
    const ping = Effect.fnUntraced(function* (id: string) {
      const seen = yield* integrations.lockForWrite(id)
      yield* requirePingable(seen.value)
      const tenant = yield* CurrentTenant
      const sequence = seen.sequence + 1
      const event = record({
        tenant,
        type: "integration.ping" satisfies EventType,
        resource: id,
        client: undefined,
        sequence,
        at: new Date().toISOString(),
        ...(yield* currentOrigin),
        data: seen.value
      })
      yield* sql`
        with changed as (
          update integrations set sequence = ${sequence} where tenant_id = ${tenant} and id = ${id} returning 1
        ) ${event}`
      return yield* events.getByResourceVersion(id, sequence)
    })

    return {
      ...integrations,

      /** Creates an integration. Returns it with its signing secret or its webhook URL, if the provider needs one. */
      create: ({ config = {}, name, password, provider }: typeof CreateIntegration.Type) =>
        Effect.gen(function* () {
          yield* requireProviderConfigured(provider, apps.missingSettings(provider))
          yield* requireUsableConfig(provider, config)
          yield* requireMailLogin({ provider, before: undefined, config, password })
          return yield* insertWithCredentials({ provider, name, config }, password)
        }),

      patch: (id: string, { password, ...change }: typeof PatchIntegration.Type) =>
        Effect.gen(function* () {
          // Resolve the host before taking a row lock. The provider never changes.
          const { provider } = yield* integrations.get(id)
          if (change.config !== undefined) yield* requireUsableConfig(provider, change.config)
          const update = integrations.updateWith(
            id,
            Effect.fnUntraced(function* (before) {
              const config = yield* applyConfigChange(before, change.config ?? before.config)
              yield* requireMailLogin({ provider, before: before.config, config, password })
              return applyPatch(before, { ...change, config })
            })
          )
          if (password === undefined) return yield* update
          return yield* Effect.zipLeft(update, secrets.savePassword(id, password)).pipe(inTransaction(sql))
        }),

      /** Soft-deletes an integration. The janitor purges the rest later. */
      remove: (id: string) =>
        Effect.gen(function* () {
          const tenant = yield* CurrentTenant
          const seen = yield* integrations.lockForWrite(id)
          const extraCtes = ownedTables.map(
            (table) => sql`${sql(`gone_${table}`)} as (
              delete from ${sql(table)} where tenant_id = ${tenant} and integration_id = ${id})`
          )
          yield* integrations.deleteLocked(seen, { extraCtes, commit: true })
        }).pipe(inTransaction(sql)),

      pause: transitionTo("pause"),
      resume: transitionTo("resume"),
      ping: (id: string) => inTransaction(sql)(ping(id)),

      rotateSecret: (id: string, overlapHours: number) =>
        Effect.gen(function* () {
          const seen = yield* integrations.lockForWrite(id)
          yield* requireRotatableSecret(seen.value)
          const credentials = isTracker(seen.value.provider) ? endpoints : secrets
          const replaced = yield* quotas.countUpToMax("secrets", yield* credentials.replacedQuery(id))
          yield* requireSecretQuota(replaced, overlapHours, quotas.maxOf("secrets"))
          const { extraCtes, ...issued } = yield* credentials.prepareRotation(id, overlapHours)
          const integration = yield* integrations.updateLocked(seen, "updated", seen.value, {
            extraCtes,
            commit: true
          })
          return { integration, ...issued }
        }).pipe(inTransaction(sql)),

      /** For senders: the secrets that sign now, newest first. */
      secretsOf: (tenant: TenantId, id: string) => secrets.listActive(tenant, id),

      /** For senders: moves an ACTIVE integration to ERROR. Does nothing for any other status, or after a deletion. */
      fail: (tenant: TenantId, id: string, reason: string) =>
        integrations.lockForUpdate(id).pipe(
          Effect.flatMap((seen) =>
            canTransitionIntegration(seen.value.status, "fail")
              ? Effect.asVoid(applyTransition("fail", seen, reason))
              : Effect.void
          ),
          Effect.catchTag("NotFound", () => Effect.void),
          Effect.asVoid,
          inTransaction(sql),
          Effect.provideService(CurrentTenant, tenant)
        )
    }
  }).pipe(withSpans("Integrations"))
}) {}

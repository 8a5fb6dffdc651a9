import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { CurrentTenant } from "../../domain/tenancy/RequestContext.ts"
import { associatedData } from "../infra/secrets/SealedColumns.ts"
import { Secrets } from "../infra/secrets/Secrets.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"
import { generateSigningSecret } from "../infra/webhook/WebhookSender.ts"

interface Sealed {
  readonly generation: number
  readonly sealed: Uint8Array
}

/**
 * Signing secrets of deliveries and passwords of mail servers, encrypted at rest. Only the sender sees them in the clear,
 * and the response to the creation of a signing secret.
 */
export class IntegrationSecrets extends Effect.Service<IntegrationSecrets>()("layers/IntegrationSecrets", {
  dependencies: [Secrets.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const secrets = yield* Secrets

    const prepareSecret = Effect.fnUntraced(function* (
      integration: string,
      generation: number,
      secret = generateSigningSecret()
    ) {
      const tenant = yield* CurrentTenant
      const sealed = secrets.seal(
        associatedData.signingSecret({ tenant, integration, generation }),
        Buffer.from(secret)
      )
      const insert = sql`
        insert into integration_secrets (tenant_id, integration_id, generation, sealed)
        values (${tenant}, ${integration}, ${generation}, ${sealed})`
      return { secret, insert }
    })

    const latestGeneration = (tenant: string, integration: string) =>
      Effect.map(
        Effect.orDie(sql<{ generation: number }>`
          select coalesce(max(generation), 0) as generation from integration_secrets
          where tenant_id = ${tenant} and integration_id = ${integration}`),
        ([row]) => row?.generation ?? 0
      )

    const unseal = (tenant: string, integration: string, all: ReadonlyArray<Sealed>): ReadonlyArray<string> =>
      all.map(({ generation, sealed }) =>
        secrets.open(associatedData.signingSecret({ tenant, integration, generation }), sealed).toString()
      )

    return {
      /** Query for the replaced secrets that have not expired, for a quota count. */
      replacedQuery: (integration: string) =>
        Effect.map(
          CurrentTenant,
          (tenant) => sql`
            select 1 from integration_secrets
            where tenant_id = ${tenant} and integration_id = ${integration} and expires_at > now()`
        ),

      /** Issues the first secret of an integration. */
      issueFirst: (integration: string) =>
        Effect.flatMap(prepareSecret(integration, 1), ({ insert, secret }) => Effect.as(Effect.orDie(insert), secret)),

      /** Replaces the password of a mail server. Call it inside the transaction that changes the integration. */
      savePassword: Effect.fnUntraced(function* (integration: string, password: string) {
        const tenant = yield* CurrentTenant
        const generation = (yield* latestGeneration(tenant, integration)) + 1
        yield* Effect.orDie(
          sql`delete from integration_secrets where tenant_id = ${tenant} and integration_id = ${integration}`
        )
        const { insert } = yield* prepareSecret(integration, generation, password)
        yield* Effect.orDie(insert)
      }),

      /**
       * A new secret and the CTEs that store it within another statement. The current secret expires after `overlapHours`.
       * Secrets that were replaced earlier keep their expiry, and expired ones are deleted.
       */
      prepareRotation: Effect.fnUntraced(function* (integration: string, overlapHours: number) {
        const tenant = yield* CurrentTenant
        const { insert, secret } = yield* prepareSecret(integration, (yield* latestGeneration(tenant, integration)) + 1)
        const isOwn = sql`tenant_id = ${tenant} and integration_id = ${integration}`
        const extraCtes = [
          sql`forgotten as (delete from integration_secrets where ${isOwn} and expires_at <= now())`,
          sql`retired as (
            update integration_secrets set expires_at = now() + make_interval(hours => ${overlapHours}::integer)
            where ${isOwn} and expires_at is null)`,
          sql`issued as (${insert})`
        ]
        return { secret, extraCtes }
      }),

      /** All secrets that sign now, newest first. */
      listActive: (tenant: string, integration: string) =>
        Effect.map(
          Effect.orDie(sql<Sealed>`
            select generation, sealed from integration_secrets
            where tenant_id = ${tenant} and integration_id = ${integration}
              and (expires_at is null or expires_at > now())
            order by generation desc`),
          (rows) => unseal(tenant, integration, rows)
        ),

      unseal
    }
  }).pipe(withSpans("IntegrationSecrets"))
}) {}

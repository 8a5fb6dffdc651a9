import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { CurrentTenant } from "../../domain/tenancy/Caller.ts"
import { Secrets } from "../secrets/Secrets.ts"
import { newSecret } from "../webhook/Signature.ts"

interface Sealed {
  readonly generation: number
  readonly sealed: Uint8Array
}

const placeOf = (tenant: string, integration: string, generation: number) =>
  JSON.stringify(["integration_secrets", tenant, integration, generation])

/** What deliveries are signed with: sealed at rest, and told in the clear only to whoever makes one and to who signs. */
export class IntegrationSecrets extends Effect.Service<IntegrationSecrets>()("layers/IntegrationSecrets", {
  dependencies: [Secrets.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const secrets = yield* Secrets

    const issuing = Effect.fnUntraced(function* (integration: string, generation: number) {
      const tenant = yield* CurrentTenant
      const secret = newSecret()
      const sealed = secrets.seal(placeOf(tenant, integration, generation), Buffer.from(secret))
      const insert = sql`
        insert into integration_secrets (tenant_id, integration_id, generation, sealed)
        values (${tenant}, ${integration}, ${generation}, ${sealed})`
      return { secret, insert }
    })

    const latest = (tenant: string, integration: string) =>
      Effect.map(
        Effect.orDie(sql<{ generation: number }>`
          select coalesce(max(generation), 0) as generation from integration_secrets
          where tenant_id = ${tenant} and integration_id = ${integration}`),
        ([row]) => row?.generation ?? 0
      )

    const opened = (tenant: string, integration: string, all: ReadonlyArray<Sealed>): ReadonlyArray<string> =>
      all.map(({ generation, sealed }) => secrets.open(placeOf(tenant, integration, generation), sealed).toString())

    return {
      /** The rows of those that were replaced and have not expired, for who counts them. */
      replaced: (integration: string) =>
        Effect.map(
          CurrentTenant,
          (tenant) => sql`
            select 1 from integration_secrets
            where tenant_id = ${tenant} and integration_id = ${integration} and expires_at > now()`
        ),

      /** The first secret of an integration that has none. */
      first: (integration: string) =>
        Effect.flatMap(issuing(integration, 1), ({ insert, secret }) => Effect.as(Effect.orDie(insert), secret)),

      /**
       * A new secret, and what puts it in place of the one before, as parts of another change: that one has so many
       * hours left. Those that were replaced earlier keep their time, and what expired is forgotten.
       */
      rotating: Effect.fnUntraced(function* (integration: string, overlapHours: number) {
        const tenant = yield* CurrentTenant
        const { insert, secret } = yield* issuing(integration, (yield* latest(tenant, integration)) + 1)
        const own = sql`tenant_id = ${tenant} and integration_id = ${integration}`
        const besides = [
          sql`forgotten as (delete from integration_secrets where ${own} and expires_at <= now())`,
          sql`retired as (
            update integration_secrets set expires_at = now() + make_interval(hours => ${overlapHours}::integer)
            where ${own} and expires_at is null)`,
          sql`issued as (${insert})`
        ]
        return { secret, besides }
      }),

      /** Every secret that signs at the moment, newest first. */
      of: (tenant: string, integration: string) =>
        Effect.map(
          Effect.orDie(sql<Sealed>`
            select generation, sealed from integration_secrets
            where tenant_id = ${tenant} and integration_id = ${integration}
              and (expires_at is null or expires_at > now())
            order by generation desc`),
          (rows) => opened(tenant, integration, rows)
        ),

      opened
    }
  })
}) {}

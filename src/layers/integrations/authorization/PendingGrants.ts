import * as SqlClient from "@effect/sql/SqlClient"
import { Effect, Schema } from "effect"
import { Forbidden, fieldError } from "../../../domain/Errors.ts"
import type { Provider } from "../../../domain/integrations/Provider.ts"
import { CurrentTenant, Principal } from "../../../domain/tenancy/RequestContext.ts"
import { TokenSet } from "../../infra/oauth/TokenEndpoint.ts"
import { hashOf, makeOneTimeToken } from "../../infra/secrets/OneTimeTokens.ts"
import { associatedData } from "../../infra/secrets/SealedColumns.ts"
import { Secrets } from "../../infra/secrets/Secrets.ts"
import { withSpans } from "../../infra/telemetry/UseCaseSpans.ts"
import type { OAuthState } from "./OAuthStates.ts"

/** The tokens and scopes that a provider granted, with the Jira site if there is one. */
export const OAuthGrant = Schema.Struct({
  ...TokenSet.fields,
  siteId: Schema.optionalWith(Schema.String, { exact: true }),
  siteUrl: Schema.optionalWith(Schema.String, { exact: true })
})
export type OAuthGrant = typeof OAuthGrant.Type

const GrantJson = Schema.parseJson(OAuthGrant)
const encode = Schema.encodeSync(GrantJson)
const decode = Schema.decodeSync(GrantJson)

interface Sealed {
  readonly tenant: string
  readonly integration: string
  readonly hash: Uint8Array
  readonly sealed: Uint8Array
}

interface Expired extends Sealed {
  readonly provider: Provider
  readonly isReplaced: boolean
}

const lifetimeMinutes = 10

/** Grants that wait for a confirmation by the person who started the authorization. */
export class PendingGrants extends Effect.Service<PendingGrants>()("layers/PendingGrants", {
  dependencies: [Secrets.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const secrets = yield* Secrets
    const columns = sql.literal("p.tenant_id as tenant, p.integration_id as integration, p.hash, p.sealed")
    const unseal = (row: Sealed): OAuthGrant =>
      decode(secrets.open(associatedData.pendingGrant(row), row.sealed).toString())

    const isValid = (tenant: string, integration: string, hash: Buffer) => sql`
      p.tenant_id = ${tenant} and p.integration_id = ${integration} and p.hash = ${hash} and p.expires_at > now()`

    return {
      /** Stores a grant for ten minutes. Returns its confirmation code; undefined if the integration no longer exists. */
      save: Effect.fnUntraced(function* ({ integration, issuer, subject, tenant }: OAuthState, grant: OAuthGrant) {
        const confirmation = makeOneTimeToken()
        const hash = hashOf(confirmation)
        const sealed = secrets.seal(
          associatedData.pendingGrant({ tenant, integration, hash }),
          Buffer.from(encode(grant))
        )
        const inserted = yield* Effect.orDie(sql<object>`
          with home as (select 1 from integrations where tenant_id = ${tenant} and id = ${integration} for key share)
          insert into pending_grants (tenant_id, hash, integration_id, issuer, subject, sealed, expires_at)
          select ${tenant}, ${hash}, ${integration}, ${issuer}, ${subject}, ${sealed},
            now() + make_interval(mins => ${lifetimeMinutes})
          from home returning 1`)
        return inserted.length === 1 ? confirmation : undefined
      }),

      /** Returns and deletes the grant of a confirmation. Only the person who started the authorization can take it. */
      consume: Effect.fnUntraced(function* (integration: string, confirmation: string) {
        const tenant = yield* CurrentTenant
        const { issuer, subject } = yield* Principal
        const isMatch = isValid(tenant, integration, hashOf(confirmation))
        const [taken] = yield* Effect.orDie(sql<Sealed>`
          delete from pending_grants p where ${isMatch} and p.issuer = ${issuer} and p.subject = ${subject}
          returning ${columns}`)
        if (taken !== undefined) return unseal(taken)
        const others = yield* Effect.orDie(sql<object>`select 1 from pending_grants p where ${isMatch}`)
        return yield* Effect.fail(
          others.length > 0
            ? new Forbidden()
            : fieldError("confirmation", "exists", "is unknown, expired or already used; authorize again")
        )
      }),

      /** Deletes the other pending grants of the same person and integration: a newer one replaces them. */
      removeOthers: (tenant: string, integration: string, { issuer, subject }: Principal["Type"]) =>
        Effect.orDie(sql`
          delete from pending_grants where tenant_id = ${tenant} and integration_id = ${integration}
            and issuer = ${issuer} and subject = ${subject}`),

      /** All pending grants of an integration. Each is decrypted when its effect runs. */
      list: (tenant: string, integration: string) =>
        Effect.map(
          Effect.orDie(sql<Sealed>`
            select ${columns} from pending_grants p
            where p.tenant_id = ${tenant} and p.integration_id = ${integration}`),
          (rows) => rows.map((row) => Effect.sync(() => unseal(row)))
        ),

      /**
       * Deletes expired grants. Returns those to revoke. A revocation may invalidate all tokens of an account, so it skips
       * grants of integrations that are authorized by another grant.
       */
      sweep: (max: number) =>
        Effect.orDie(sql<Expired>`
          delete from pending_grants p using integrations i
          where i.tenant_id = p.tenant_id and i.id = p.integration_id and p.ctid = any (array(
            select ctid from pending_grants where expires_at <= now() limit ${max} for update skip locked
          ))
          returning ${columns}, i.provider, i.is_authorized as "isReplaced"`).pipe(
          Effect.map((rows) => ({
            count: rows.length,
            toRevoke: rows
              .filter(({ isReplaced }) => !isReplaced)
              .map((row) => ({ provider: row.provider, grant: Effect.sync(() => unseal(row)) }))
          }))
        )
    }
  }).pipe(withSpans("PendingGrants"))
}) {}

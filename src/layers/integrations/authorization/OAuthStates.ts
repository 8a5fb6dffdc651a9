import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import type { OAuthProvider } from "../../../domain/integrations/Authorization.ts"
import { CurrentTenant, Principal } from "../../../domain/tenancy/RequestContext.ts"
import type { TenantId } from "../../../domain/tenancy/Tenant.ts"
import { deleteUpTo } from "../../infra/postgres/Batches.ts"
import { inTransaction } from "../../infra/postgres/connection/Transactions.ts"
import { hashOf, makeOneTimeToken } from "../../infra/secrets/OneTimeTokens.ts"
import { associatedData } from "../../infra/secrets/SealedColumns.ts"
import { Secrets } from "../../infra/secrets/Secrets.ts"
import { withSpans } from "../../infra/telemetry/UseCaseSpans.ts"
import { Quotas } from "../../quotas/Quotas.ts"

type Person = Principal["Type"]

interface Row extends Person {
  readonly tenant: TenantId
  readonly integration: string
  readonly provider: OAuthProvider
  readonly origin: string
  readonly verifier: Uint8Array
}

/** A consumed `state`: the started authorization that the callback completes. */
export interface OAuthState extends Omit<Row, "verifier"> {
  readonly verifier: string
}

const lifetimeMinutes = 10

/** OAuth `state` values of started authorizations. Each is valid once, and only its hash is stored. */
export class OAuthStates extends Effect.Service<OAuthStates>()("layers/OAuthStates", {
  dependencies: [Quotas.Default, Secrets.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const secrets = yield* Secrets
    const quotas = yield* Quotas

    const isValid = (hash: Buffer) => sql`
      s.hash = ${hash} and s.consumed_at is null and s.expires_at > now()
      and exists (select 1 from tenants t where t.id = s.tenant_id and t.deleted_at is null)`

    const isStartedBy = (person: Person | undefined) =>
      person === undefined ? sql`true` : sql`s.issuer = ${person.issuer} and s.subject = ${person.subject}`

    /** Authorizations without a callback yet, or with an unconfirmed grant. */
    const selectPending = (tenant: string, integration: string) => sql`
      select 1 from oauth_states where tenant_id = ${tenant} and integration_id = ${integration}
        and consumed_at is null and expires_at > now()
      union all
      select 1 from pending_grants where tenant_id = ${tenant} and integration_id = ${integration}
        and expires_at > now()`

    const requirePendingQuota = (tenant: string, integration: string) =>
      quotas.requireOneMore(
        "pendingAuthorizations",
        [tenant, integration],
        selectPending(tenant, integration),
        "integrationId"
      )

    return {
      /** Starts an authorization for the caller. Returns the state and the PKCE challenge. */
      begin: Effect.fnUntraced(function* (integration: string, provider: OAuthProvider, origin: string) {
        const tenant = yield* CurrentTenant
        yield* requirePendingQuota(tenant, integration)
        const { issuer, subject } = yield* Principal
        const [state, verifier] = [makeOneTimeToken(), makeOneTimeToken()]
        const hash = hashOf(state)
        const sealed = secrets.seal(associatedData.verifier({ tenant, integration, hash }), Buffer.from(verifier))
        yield* Effect.orDie(sql`
          insert into oauth_states
            (tenant_id, hash, integration_id, provider, issuer, subject, origin, verifier, expires_at)
          values (${tenant}, ${hash}, ${integration}, ${provider}, ${issuer}, ${subject}, ${origin}, ${sealed},
            now() + make_interval(mins => ${lifetimeMinutes}))`)
        return { state, challenge: hashOf(verifier).toString("base64url") }
      }, inTransaction(sql)),

      /** Consumes a state once. With `person`, only a state that this person started. */
      consume: Effect.fnUntraced(function* (state: string, person: Person | undefined) {
        const hash = hashOf(state)
        const [row] = yield* Effect.orDie(sql<Row>`
          update oauth_states s set consumed_at = now() where ${isValid(hash)} and ${isStartedBy(person)}
          returning s.tenant_id as tenant, s.integration_id as integration, s.provider, s.issuer, s.subject, s.origin,
            s.verifier`)
        if (row === undefined) return undefined
        const verifier = secrets.open(associatedData.verifier({ ...row, hash }), row.verifier).toString()
        return { ...row, verifier } satisfies OAuthState
      }),

      /** Whether a state is valid, regardless of the person. */
      isValid: (state: string) =>
        Effect.map(
          Effect.orDie(sql<object>`select 1 from oauth_states s where ${isValid(hashOf(state))}`),
          (rows) => rows.length === 1
        ),

      /** Deletes expired states. Returns how many. */
      sweep: (max: number) => Effect.orDie(deleteUpTo(sql, max, "oauth_states", sql`expires_at <= now()`))
    }
  }).pipe(withSpans("OAuthStates"))
}) {}

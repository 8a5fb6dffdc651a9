import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import type { OAuthProvider } from "../../../domain/integrations/Authorization.ts"
import { CurrentTenant, Principal } from "../../../domain/tenancy/Caller.ts"
import type { TenantId } from "../../../domain/tenancy/Tenant.ts"
import { atomically } from "../../postgres/connection/Transaction.ts"
import { Quotas } from "../../quotas/Quotas.ts"
import { hashOf, newOneTime } from "../../secrets/OneTime.ts"
import { Secrets } from "../../secrets/Secrets.ts"

type Person = Principal["Type"]

interface Row extends Person {
  readonly tenant: TenantId
  readonly integration: string
  readonly provider: OAuthProvider
  readonly origin: string
  readonly verifier: Uint8Array
}

/** An authorization somebody began, now that somebody comes back with its state. */
export interface Begun extends Omit<Row, "verifier"> {
  readonly verifier: string
}

const lifeMinutes = 10

const placeOf = (tenant: string, integration: string, hash: Buffer) =>
  JSON.stringify(["oauth_states", tenant, integration, hash.toString("hex"), "verifier"])

/** Authorizations that were begun. Who knows a state may go on with it, once; here only its hash is known. */
export class OAuthStates extends Effect.Service<OAuthStates>()("layers/OAuthStates", {
  dependencies: [Quotas.Default, Secrets.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const secrets = yield* Secrets
    const quotas = yield* Quotas

    const isOpen = (hash: Buffer) => sql`
      s.hash = ${hash} and s.consumed_at is null and s.expires_at > now()
      and exists (select 1 from tenants t where t.id = s.tenant_id and t.deleted_at is null)`

    const isOf = (person: Person | undefined) =>
      person === undefined ? sql`true` : sql`s.issuer = ${person.issuer} and s.subject = ${person.subject}`

    /** Begun and not back yet, or back and not confirmed. */
    const pending = (tenant: string, integration: string) => sql`
      select 1 from oauth_states where tenant_id = ${tenant} and integration_id = ${integration}
        and consumed_at is null and expires_at > now()
      union all
      select 1 from pending_grants where tenant_id = ${tenant} and integration_id = ${integration}
        and expires_at > now()`

    const requirePending = (tenant: string, integration: string) =>
      quotas.requireOneMore(
        "pendingAuthorizations",
        [tenant, integration],
        pending(tenant, integration),
        "integrationId"
      )

    return {
      /** Writes down that the caller begins, and tells the state and what the code will be bound to. */
      begin: Effect.fnUntraced(function* (integration: string, provider: OAuthProvider, origin: string) {
        const tenant = yield* CurrentTenant
        yield* requirePending(tenant, integration)
        const { issuer, subject } = yield* Principal
        const [state, verifier] = [newOneTime(), newOneTime()]
        const hash = hashOf(state)
        const sealed = secrets.seal(placeOf(tenant, integration, hash), Buffer.from(verifier))
        yield* Effect.orDie(sql`
          insert into oauth_states
            (tenant_id, hash, integration_id, provider, issuer, subject, origin, verifier, expires_at)
          values (${tenant}, ${hash}, ${integration}, ${provider}, ${issuer}, ${subject}, ${origin}, ${sealed},
            now() + make_interval(mins => ${lifeMinutes}))`)
        return { state, challenge: hashOf(verifier).toString("base64url") }
      }, atomically(sql)),

      /** What a state stands for, told once. One that `person`, where there is one, did not begin stays as it is. */
      consume: Effect.fnUntraced(function* (state: string, person: Person | undefined) {
        const hash = hashOf(state)
        const [row] = yield* Effect.orDie(sql<Row>`
          update oauth_states s set consumed_at = now() where ${isOpen(hash)} and ${isOf(person)}
          returning s.tenant_id as tenant, s.integration_id as integration, s.provider, s.issuer, s.subject, s.origin,
            s.verifier`)
        if (row === undefined) return undefined
        const place = placeOf(row.tenant, row.integration, hash)
        return { ...row, verifier: secrets.open(place, row.verifier).toString() } satisfies Begun
      }),

      /** Whether a state is good, whoever began. */
      isOpen: (state: string) =>
        Effect.map(
          Effect.orDie(sql<object>`select 1 from oauth_states s where ${isOpen(hashOf(state))}`),
          (rows) => rows.length === 1
        ),

      /** Forgets what can be used no more; tells how many that were. */
      sweep: (most: number) =>
        Effect.orDie(sql<object>`
          delete from oauth_states where ctid = any (array(
            select ctid from oauth_states where expires_at <= now() limit ${most}
          )) returning 1`).pipe(Effect.map((rows) => rows.length))
    }
  })
}) {}

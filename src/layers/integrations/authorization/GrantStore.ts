import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { associatedData } from "../../infra/secrets/SealedColumns.ts"
import { Secrets } from "../../infra/secrets/Secrets.ts"
import { withSpans } from "../../infra/telemetry/UseCaseSpans.ts"
import type { OAuthGrant } from "./PendingGrants.ts"

interface Row {
  readonly generation: number
  readonly access: Uint8Array
  readonly refresh: Uint8Array | null
  readonly siteId: string | null
  readonly siteUrl: string | null
  readonly isFresh: boolean
}

/** The decrypted tokens of an integration. */
export interface StoredGrant {
  readonly generation: number
  readonly accessToken: string
  readonly refreshToken: string | undefined
  readonly siteId: string | undefined
  readonly siteUrl: string | undefined
  /** Whether the access token stays valid beyond the renewal margin. */
  readonly isFresh: boolean
}

/** An access token is renewed this long before it expires. */
const renewalMarginSeconds = 60

const tokenData = { access: associatedData.accessToken, refresh: associatedData.refreshToken }

/** The table of grants. Encryption binds each token to its row and generation. */
export class GrantStore extends Effect.Service<GrantStore>()("layers/GrantStore", {
  dependencies: [Secrets.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const secrets = yield* Secrets

    const isOwn = (tenant: string, integration: string) =>
      sql`tenant_id = ${tenant} and integration_id = ${integration}`

    const find = (lock: string) =>
      Effect.fnUntraced(function* (tenant: string, integration: string) {
        const [row] = yield* Effect.orDie(sql<Row>`
          select generation, access, refresh, site_id as "siteId", site_url as "siteUrl",
            expires_at > now() + make_interval(secs => ${renewalMarginSeconds}) as "isFresh"
          from grants where ${isOwn(tenant, integration)} ${sql.literal(lock)}`)
        if (row === undefined) return undefined
        const { access, generation, isFresh, refresh, siteId, siteUrl } = row
        const open = (column: "access" | "refresh", sealed: Uint8Array) =>
          secrets.open(tokenData[column]({ tenant, integration, generation }), sealed).toString()
        return {
          generation,
          accessToken: open("access", access),
          refreshToken: refresh === null ? undefined : open("refresh", refresh),
          siteId: siteId ?? undefined,
          siteUrl: siteUrl ?? undefined,
          isFresh
        } satisfies StoredGrant
      })
    const findForUpdate = find("for update")

    /** Saves a grant and replaces the locked one, if there is one. */
    const save = (tenant: string, integration: string, grant: OAuthGrant, previous: StoredGrant | undefined) => {
      const generation = (previous?.generation ?? 0) + 1
      const seal = (column: "access" | "refresh", token: string) =>
        secrets.seal(tokenData[column]({ tenant, integration, generation }), Buffer.from(token))
      const row = {
        tenant_id: tenant,
        integration_id: integration,
        generation,
        scopes: grant.scopes ?? "",
        site_id: grant.siteId ?? null,
        site_url: grant.siteUrl ?? null,
        access: seal("access", grant.accessToken),
        refresh: grant.refreshToken === undefined ? null : seal("refresh", grant.refreshToken),
        expires_at: grant.expiresAt
      }
      return Effect.orDie(sql`
        insert into grants ${sql.insert(row)}
        on conflict (tenant_id, integration_id) do update set generation = excluded.generation,
          scopes = coalesce(nullif(excluded.scopes, ''), grants.scopes), site_id = excluded.site_id,
          site_url = excluded.site_url, access = excluded.access, refresh = excluded.refresh,
          expires_at = excluded.expires_at, updated_at = now()`)
    }

    return {
      find: find(""),
      /** Locks the row until the transaction ends. */
      findForUpdate,
      save,
      /** Deletes the grant of this generation. Returns whether it still existed. */
      remove: (tenant: string, integration: string, generation: number) =>
        Effect.map(
          Effect.orDie(sql<object>`
            delete from grants where ${isOwn(tenant, integration)} and generation = ${generation} returning 1`),
          (rows) => rows.length === 1
        )
    }
  }).pipe(withSpans("GrantStore"))
}) {}

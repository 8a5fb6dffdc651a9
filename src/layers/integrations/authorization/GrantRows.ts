import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { Secrets } from "../../secrets/Secrets.ts"
import type { Grant } from "./PendingGrants.ts"

interface Row {
  readonly generation: number
  readonly access: Uint8Array
  readonly refresh: Uint8Array | null
  readonly siteId: string | null
  readonly siteUrl: string | null
  readonly isFresh: boolean
}

/** The tokens of an integration, in the clear. */
export interface Held {
  readonly generation: number
  readonly accessToken: string
  readonly refreshToken: string | undefined
  readonly siteId: string | undefined
  readonly siteUrl: string | undefined
  /** Whether the access token will work for a while yet. */
  readonly isFresh: boolean
}

/** So long before it expires an access token is replaced. */
const marginSeconds = 60

const placeOf = (tenant: string, integration: string, column: "access" | "refresh", generation: number) =>
  JSON.stringify(["grants", tenant, integration, column, generation])

/** The table of grants: what is sealed there opens nowhere else, and not as another generation. */
export class GrantRows extends Effect.Service<GrantRows>()("layers/GrantRows", {
  dependencies: [Secrets.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const secrets = yield* Secrets

    const own = (tenant: string, integration: string) => sql`tenant_id = ${tenant} and integration_id = ${integration}`

    const find = (lock: string) =>
      Effect.fnUntraced(function* (tenant: string, integration: string) {
        const [row] = yield* Effect.orDie(sql<Row>`
          select generation, access, refresh, site_id as "siteId", site_url as "siteUrl",
            expires_at > now() + make_interval(secs => ${marginSeconds}) as "isFresh"
          from grants where ${own(tenant, integration)} ${sql.literal(lock)}`)
        if (row === undefined) return undefined
        const { access, generation, isFresh, refresh, siteId, siteUrl } = row
        const open = (column: "access" | "refresh", sealed: Uint8Array) =>
          secrets.open(placeOf(tenant, integration, column, generation), sealed).toString()
        return {
          generation,
          accessToken: open("access", access),
          refreshToken: refresh === null ? undefined : open("refresh", refresh),
          siteId: siteId ?? undefined,
          siteUrl: siteUrl ?? undefined,
          isFresh
        } satisfies Held
      })
    const held = find("for update")

    /** Puts a grant in the place of the one that is held, if there is one. */
    const put = (tenant: string, integration: string, grant: Grant, before: Held | undefined) => {
      const generation = (before?.generation ?? 0) + 1
      const seal = (column: "access" | "refresh", token: string) =>
        secrets.seal(placeOf(tenant, integration, column, generation), Buffer.from(token))
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
      /** The same, held against everybody else until the transaction ends. */
      held,
      put,
      /** Takes away the grant of this generation; tells whether it was still there. */
      drop: (tenant: string, integration: string, generation: number) =>
        Effect.map(
          Effect.orDie(sql<object>`
            delete from grants where ${own(tenant, integration)} and generation = ${generation} returning 1`),
          (rows) => rows.length === 1
        )
    }
  })
}) {}

import * as SqlClient from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import { Effect } from "effect"
import { type QuotaName, quotaNames, quotas, rateLimits, requireQuota, toLimit } from "../../domain/Quotas.ts"
import { CurrentTenant, Principal } from "../../domain/tenancy/Caller.ts"
import { Settings } from "../config/Settings.ts"

type Owner = string | ReadonlyArray<string>

/** `GET /limits` counts so many rows of each kind at least, in case there are more than the quota allows by now. */
const minCounted = 100_000

/** Tells the advisory locks of quotas from those of lanes, integrations and issues. */
const lockSpace = 3

/** The quotas as they are set, and the use of those that belong to a tenant or a caller. */
export class Quotas extends Effect.Service<Quotas>()("layers/Quotas", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const settings = yield* Settings

    const maxOf = (name: QuotaName) => settings[quotas[name].setting]

    // In the order of an index, so that counting reads no more of the table than it counts.
    const ownRows = {
      members: (tenant: string) => sql`select 1 from members where tenant_id = ${tenant} order by id`,
      integrations: (tenant: string) => sql`select 1 from integrations where tenant_id = ${tenant} order by id`,
      assets: (tenant: string) => sql`select 1 from assets where tenant_id = ${tenant} order by id`
    }

    const tenantRows = ({ issuer, subject }: Principal["Type"]) => sql`
      select 1 from members m join tenants t on t.id = m.tenant_id and t.deleted_at is null
      where m.issuer = ${issuer} and m.subject = ${subject} and m.role = 'OWNER'
      order by m.tenant_id`

    /** Lets one transaction at a time count and add. It must be the first lock the addition needs besides its parent's. */
    const lock = (name: QuotaName, owner: Owner) =>
      Effect.orDie(
        sql`select pg_advisory_xact_lock(hashtextextended(${JSON.stringify([name, owner])}, ${lockSpace}::bigint))`
      )

    /** Reads `most` rows at most, however many there are. */
    const count = (rows: Fragment, most: number) =>
      Effect.map(
        Effect.orDie(sql<{ used: number }>`
          select count(*)::integer as used from (${rows} limit ${most}) counted`),
        ([row]) => row?.used ?? 0
      )

    /** How many rows there are, or the quota if there are more. */
    const countUpToMax = (name: QuotaName, rows: Fragment) => count(rows, maxOf(name))

    /** Fails unless one more of `rows` is within the quota, and keeps it so until the transaction ends. */
    const requireOneMore = Effect.fnUntraced(function* (name: QuotaName, owner: Owner, rows: Fragment, field: string) {
      yield* lock(name, owner)
      yield* requireQuota(name, { max: maxOf(name), used: yield* countUpToMax(name, rows), field })
    })

    const storedBytes = Effect.flatMap(CurrentTenant, (tenant) =>
      Effect.orDie(sql<{ bytes: number }>`select bytes from blob_usage where tenant_id = ${tenant}`)
    ).pipe(Effect.map(([row]) => row?.bytes ?? 0))

    /** Comes before any lock on a blob: adding and freeing bytes both update the one sum of the tenant. */
    const lockBytes = Effect.flatMap(CurrentTenant, (tenant) => lock("assetBytes", tenant))

    const usage = Effect.gen(function* () {
      const tenant = yield* CurrentTenant
      const countOf = (name: QuotaName, rows: Fragment) => count(rows, Math.max(maxOf(name), minCounted))
      const used: Partial<Record<QuotaName, number>> = {
        tenants: yield* countOf("tenants", tenantRows(yield* Principal)),
        members: yield* countOf("members", ownRows.members(tenant)),
        integrations: yield* countOf("integrations", ownRows.integrations(tenant)),
        assets: yield* countOf("assets", ownRows.assets(tenant)),
        assetBytes: yield* storedBytes
      }
      return used
    })

    return {
      maxOf,
      countUpToMax,
      requireOneMore,
      lockBytes,

      /** Fails unless the tenant may have one more, inside the transaction that makes it. */
      requireRoom: (name: keyof typeof ownRows, field: string) =>
        Effect.flatMap(CurrentTenant, (tenant) => requireOneMore(name, tenant, ownRows[name](tenant), field)),

      /** Fails unless the caller may own one more tenant, inside the transaction that makes it. */
      requireTenant: Effect.flatMap(Principal, (caller) =>
        requireOneMore("tenants", [caller.issuer, caller.subject], tenantRows(caller), "name")
      ),

      /** Makes a change of the tenant's blobs, and fails if it leaves more bytes than before and than the quota. */
      limitBytes: <A, E, R>(change: Effect.Effect<A, E, R>, field: string) =>
        Effect.gen(function* () {
          yield* lockBytes
          const used = yield* storedBytes
          const result = yield* change
          const adding = (yield* storedBytes) - used
          yield* requireQuota("assetBytes", { max: maxOf("assetBytes"), used, adding, field })
          return result
        }),

      /** Every quota, in the order of their table, and the rates that are set. */
      limits: Effect.map(usage, (used) => [
        ...quotaNames.map((name) => toLimit(name, maxOf(name), used[name])),
        ...rateLimits(settings)
      ])
    }
  })
}) {}

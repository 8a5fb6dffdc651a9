import * as SqlClient from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import { Effect } from "effect"
import { finishedStatuses } from "../../domain/delivery/Delivery.ts"
import { type QuotaName, quotaNames, quotas, rateLimits, requireQuota, toLimit } from "../../domain/quotas/Quotas.ts"
import { CurrentTenant, Principal } from "../../domain/tenancy/RequestContext.ts"
import { Settings } from "../infra/config/Settings.ts"

type Owner = string | ReadonlyArray<string>

/** `GET /limits` counts up to at least this many rows of each kind, in case usage exceeds a quota that was lowered. */
const minCounted = 100_000

/** Separates the advisory locks of quotas from those of ordering keys, integrations and issues. */
const lockNamespace = 3

/** The configured quotas, and the usage of those per tenant and per caller. */
export class Quotas extends Effect.Service<Quotas>()("layers/Quotas", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const settings = yield* Settings

    const finished = sql.literal(finishedStatuses.map((status) => `'${status}'`).join(", "))

    const maxOf = (name: QuotaName) => settings[quotas[name].setting]

    // In index order, so that a limited count reads no more rows than it counts.
    const tenantOwnedRows = {
      members: (tenant: string) => sql`select 1 from members where tenant_id = ${tenant} order by id`,
      integrations: (tenant: string) => sql`select 1 from integrations where tenant_id = ${tenant} order by id`,
      assets: (tenant: string) => sql`select 1 from assets where tenant_id = ${tenant} order by id`,
      taxRates: (tenant: string) => sql`select 1 from tax_rates where tenant_id = ${tenant} order by id`
    }

    const ownedTenantRows = ({ issuer, subject }: Principal["Type"]) => sql`
      select 1 from members m join tenants t on t.id = m.tenant_id and t.deleted_at is null
      where m.issuer = ${issuer} and m.subject = ${subject} and m.role = 'OWNER'
      order by m.tenant_id`

    /** Mails of the last day through the mail server of the operator. */
    const sentMails = {
      tenantMails: (tenant: string) => sql`
        select 1 from invoice_mails
        where is_shared and tenant_id = ${tenant} and data_started_at > now() - interval '1 day'`,
      callerMails: (subject: string | undefined) => sql`
        select 1 from invoice_mails
        where is_shared and requested_by = ${subject ?? null}::text and data_started_at > now() - interval '1 day'`
    }

    /** Mails that are queued for it. One of which an attempt has begun today is a mail of the last day already. */
    const queuedMails = (owner: Fragment) => sql`
      select 1 from deliveries mail where ${owner} and shared_mail_by is not null and status not in (${finished})
        and not exists (
          select 1 from invoice_mails begun where begun.tenant_id = mail.tenant_id and begun.delivery_id = mail.id
            and begun.round = mail.spent and begun.is_shared and begun.data_started_at > now() - interval '1 day')`

    const sharedMailRows = {
      tenantMails: (tenant: string) =>
        sql`${sentMails.tenantMails(tenant)} union all ${queuedMails(sql`tenant_id = ${tenant}`)}`,
      callerMails: (subject: string | undefined) =>
        sql`${sentMails.callerMails(subject)} union all ${queuedMails(sql`shared_mail_by = ${subject ?? null}::text`)}`
    }

    /** Serializes transactions that count and insert. Take it before any other lock but that of the parent row. */
    const lock = (name: QuotaName, owner: Owner) =>
      Effect.orDie(
        sql`select pg_advisory_xact_lock(hashtextextended(${JSON.stringify([name, owner])}, ${lockNamespace}::bigint))`
      )

    /** Reads at most `max` rows. */
    const count = (rows: Fragment, max: number) =>
      Effect.map(
        Effect.orDie(sql<{ used: number }>`
          select count(*)::integer as used from (${rows} limit ${max}) counted`),
        ([row]) => row?.used ?? 0
      )

    /** The number of rows, capped at the quota. */
    const countUpToMax = (name: QuotaName, rows: Fragment) => count(rows, maxOf(name))

    /** Fails unless one more of `rows` is within the quota. The lock keeps this true until the transaction ends. */
    const requireOneMore = Effect.fnUntraced(function* (name: QuotaName, owner: Owner, rows: Fragment, field: string) {
      yield* lock(name, owner)
      yield* requireQuota(name, { max: maxOf(name), used: yield* countUpToMax(name, rows), field })
    })

    const storedBytes = Effect.flatMap(CurrentTenant, (tenant) =>
      Effect.orDie(sql<{ bytes: number }>`select bytes from blob_usage where tenant_id = ${tenant}`)
    ).pipe(Effect.map(([row]) => row?.bytes ?? 0))

    /** Take it before any lock on a blob: adding and freeing bytes both update the one sum of the tenant. */
    const lockBytes = Effect.flatMap(CurrentTenant, (tenant) => lock("assetBytes", tenant))

    const usage = Effect.gen(function* () {
      const tenant = yield* CurrentTenant
      const countOf = (name: QuotaName, rows: Fragment) => count(rows, Math.max(maxOf(name), minCounted))
      const used: Partial<Record<QuotaName, number>> = {
        tenants: yield* countOf("tenants", ownedTenantRows(yield* Principal)),
        members: yield* countOf("members", tenantOwnedRows.members(tenant)),
        integrations: yield* countOf("integrations", tenantOwnedRows.integrations(tenant)),
        assets: yield* countOf("assets", tenantOwnedRows.assets(tenant)),
        assetBytes: yield* storedBytes,
        taxRates: yield* countOf("taxRates", tenantOwnedRows.taxRates(tenant)),
        tenantMails: yield* countOf("tenantMails", sharedMailRows.tenantMails(tenant)),
        callerMails: yield* countOf("callerMails", sharedMailRows.callerMails((yield* Principal).subject))
      }
      return used
    })

    return {
      maxOf,
      countUpToMax,
      requireOneMore,
      lockBytes,

      /** Fails unless the tenant may have one more. Call it inside the inserting transaction. */
      requireTenantQuota: (name: keyof typeof tenantOwnedRows, field: string) =>
        Effect.flatMap(CurrentTenant, (tenant) => requireOneMore(name, tenant, tenantOwnedRows[name](tenant), field)),

      /** Fails unless the caller may own one more tenant. Call it inside the inserting transaction. */
      requireOwnedTenantQuota: Effect.flatMap(Principal, (caller) =>
        requireOneMore("tenants", [caller.issuer, caller.subject], ownedTenantRows(caller), "name")
      ),

      /**
       * Fails unless the tenant and the caller may send so many more mails today, besides those that are queued. Call it
       * inside the inserting transaction. The sender counts again, because mails are also sent without a request.
       */
      requireMails: Effect.fnUntraced(function* (adding: number, field: string) {
        const { subject } = yield* Principal
        const tenant = yield* CurrentTenant
        yield* lock("tenantMails", tenant)
        yield* lock("callerMails", subject)
        const used = {
          tenantMails: yield* countUpToMax("tenantMails", sharedMailRows.tenantMails(tenant)),
          callerMails: yield* countUpToMax("callerMails", sharedMailRows.callerMails(subject))
        }
        yield* requireQuota("tenantMails", { max: maxOf("tenantMails"), used: used.tenantMails, adding, field })
        yield* requireQuota("callerMails", { max: maxOf("callerMails"), used: used.callerMails, adding, field })
      }),

      /** For the sender: the quota that one more mail exceeds, if there is one. Queued mails do not delay each other. */
      findExceededMailQuota: Effect.fnUntraced(function* (tenant: string, subject: string | undefined) {
        const isFull = (name: QuotaName, rows: Fragment) =>
          Effect.map(countUpToMax(name, rows), (used) => used >= maxOf(name))
        if (yield* isFull("tenantMails", sentMails.tenantMails(tenant))) return "tenantMails"
        return (yield* isFull("callerMails", sentMails.callerMails(subject))) ? "callerMails" : undefined
      }),

      /** Runs a change of the tenant's blobs. Fails if it adds bytes and the sum then exceeds the quota. */
      limitBytes: <A, E, R>(change: Effect.Effect<A, E, R>, field: string) =>
        Effect.gen(function* () {
          yield* lockBytes
          const used = yield* storedBytes
          const result = yield* change
          const adding = (yield* storedBytes) - used
          yield* requireQuota("assetBytes", { max: maxOf("assetBytes"), used, adding, field })
          return result
        }),

      /** Every quota, in the order of `quotaNames`, and the configured rate limits. */
      limits: Effect.map(usage, (used) => [
        ...quotaNames.map((name) => toLimit(name, maxOf(name), used[name])),
        ...rateLimits(settings)
      ])
    }
  })
}) {}

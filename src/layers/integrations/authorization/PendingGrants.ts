import * as SqlClient from "@effect/sql/SqlClient"
import { Effect, Schema } from "effect"
import { breaks, Forbidden } from "../../../domain/Errors.ts"
import type { Provider } from "../../../domain/integrations/Provider.ts"
import { CurrentTenant, Principal } from "../../../domain/tenancy/Caller.ts"
import { Granted } from "../../oauth/TokenEndpoint.ts"
import { hashOf, newOneTime } from "../../secrets/OneTime.ts"
import { Secrets } from "../../secrets/Secrets.ts"
import type { Begun } from "./OAuthStates.ts"

/** What a provider granted, and the site it is for where there are several. */
export const Grant = Schema.Struct({
  ...Granted.fields,
  siteId: Schema.optionalWith(Schema.String, { exact: true }),
  siteUrl: Schema.optionalWith(Schema.String, { exact: true })
})
export type Grant = typeof Grant.Type

const GrantText = Schema.parseJson(Grant)
const encode = Schema.encodeSync(GrantText)
const decode = Schema.decodeSync(GrantText)

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

const lifeMinutes = 10

const placeOf = ({ hash, integration, tenant }: Omit<Sealed, "sealed">) =>
  JSON.stringify(["pending_grants", tenant, integration, Buffer.from(hash).toString("hex"), "sealed"])

/** Grants that wait for the one who began to say that it was himself who consented. */
export class PendingGrants extends Effect.Service<PendingGrants>()("layers/PendingGrants", {
  dependencies: [Secrets.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const secrets = yield* Secrets
    const columns = sql.literal("p.tenant_id as tenant, p.integration_id as integration, p.hash, p.sealed")
    const opened = (row: Sealed): Grant => decode(secrets.open(placeOf(row), row.sealed).toString())

    const isOpen = (tenant: string, integration: string, hash: Buffer) => sql`
      p.tenant_id = ${tenant} and p.integration_id = ${integration} and p.hash = ${hash} and p.expires_at > now()`

    return {
      /** Keeps a grant for a while, and tells what it is confirmed with; nothing when its integration is gone. */
      put: Effect.fnUntraced(function* ({ integration, issuer, subject, tenant }: Begun, grant: Grant) {
        const confirmation = newOneTime()
        const hash = hashOf(confirmation)
        const sealed = secrets.seal(placeOf({ tenant, integration, hash }), Buffer.from(encode(grant)))
        const kept = yield* Effect.orDie(sql<object>`
          with home as (select 1 from integrations where tenant_id = ${tenant} and id = ${integration} for key share)
          insert into pending_grants (tenant_id, hash, integration_id, issuer, subject, sealed, expires_at)
          select ${tenant}, ${hash}, ${integration}, ${issuer}, ${subject}, ${sealed},
            now() + make_interval(mins => ${lifeMinutes})
          from home returning 1`)
        return kept.length === 1 ? confirmation : undefined
      }),

      /** The grant a confirmation is for, told once and only to who began. */
      take: Effect.fnUntraced(function* (integration: string, confirmation: string) {
        const tenant = yield* CurrentTenant
        const { issuer, subject } = yield* Principal
        const open = isOpen(tenant, integration, hashOf(confirmation))
        const [taken] = yield* Effect.orDie(sql<Sealed>`
          delete from pending_grants p where ${open} and p.issuer = ${issuer} and p.subject = ${subject}
          returning ${columns}`)
        if (taken !== undefined) return opened(taken)
        const others = yield* Effect.orDie(sql<object>`select 1 from pending_grants p where ${open}`)
        return yield* Effect.fail(
          others.length > 0 ? new Forbidden() : breaks("confirmation", "exists", "is unknown, expired or used already")
        )
      }),

      /** Forgets what else the same person consented to for the same integration: it has been overtaken. */
      dropOthers: (tenant: string, integration: string, { issuer, subject }: Principal["Type"]) =>
        Effect.orDie(sql`
          delete from pending_grants where tenant_id = ${tenant} and integration_id = ${integration}
            and issuer = ${issuer} and subject = ${subject}`),

      /** Everything that waits for one integration, still sealed. */
      of: (tenant: string, integration: string) =>
        Effect.map(
          Effect.orDie(sql<Sealed>`
            select ${columns} from pending_grants p
            where p.tenant_id = ${tenant} and p.integration_id = ${integration}`),
          (rows) => rows.map((row) => Effect.sync(() => opened(row)))
        ),

      /**
       * Discards what nobody confirmed in time. Told are those to be given back: a provider may give up every token of
       * an account with one of them, so none while its integration has been authorized otherwise.
       */
      sweep: (most: number) =>
        Effect.orDie(sql<Expired>`
          delete from pending_grants p using integrations i
          where i.tenant_id = p.tenant_id and i.id = p.integration_id and p.ctid = any (array(
            select ctid from pending_grants where expires_at <= now() limit ${most} for update skip locked
          ))
          returning ${columns}, i.provider, i.is_authorized as "isReplaced"`).pipe(
          Effect.map((rows) => ({
            count: rows.length,
            unwanted: rows
              .filter(({ isReplaced }) => !isReplaced)
              .map((row) => ({ provider: row.provider, grant: Effect.sync(() => opened(row)) }))
          }))
        )
    }
  })
}) {}

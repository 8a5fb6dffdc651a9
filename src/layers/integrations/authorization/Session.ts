import { Effect } from "effect"
import type { TenantId } from "../../../domain/tenancy/Tenant.ts"
import type { AuthorizedSession } from "../../oauth/AuthorizedSession.ts"
import { type Call, call, withoutSecret } from "../../providerHttp/Calls.ts"
import { Grants } from "./Grants.ts"

/** Calls in the name of whoever authorized an integration. */
export const openSession = (tenant: TenantId, integration: string) =>
  Effect.gen(function* () {
    const grants = yield* Grants
    let access = yield* grants.accessOf(tenant, integration)

    const send = (one: Call) => {
      const { accessToken } = access
      const asked = call({ ...one, headers: { ...one.headers, authorization: `Bearer ${accessToken}` } })
      return Effect.map(asked, (reply) => withoutSecret(reply, accessToken))
    }

    const session: AuthorizedSession = {
      siteId: access.siteId,

      /** One call. If the token is refused it is renewed, and the call made once more. */
      call: (one: Call) =>
        Effect.gen(function* () {
          const used = access.accessToken
          const reply = yield* send(one)
          if (reply.status !== 401) return reply
          access = yield* grants.renew(tenant, integration, used)
          return yield* send(one)
        })
    }
    return session
  })

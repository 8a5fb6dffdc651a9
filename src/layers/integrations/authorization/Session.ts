import { Effect } from "effect"
import type { TenantId } from "../../../domain/tenancy/Tenant.ts"
import type { AuthorizedSession } from "../../oauth/AuthorizedSession.ts"
import { type Call, call, withoutSecret } from "../../providerHttp/Calls.ts"
import { Grants } from "./Grants.ts"

/** Sends requests with the access token of an integration. */
export const openSession = (tenant: TenantId, integration: string) =>
  Effect.gen(function* () {
    const grants = yield* Grants
    let access = yield* grants.accessOf(tenant, integration)

    const sendWithToken = (request: Call) => {
      const { accessToken } = access
      const sending = call({ ...request, headers: { ...request.headers, authorization: `Bearer ${accessToken}` } })
      return Effect.map(sending, (reply) => withoutSecret(reply, accessToken))
    }

    const session: AuthorizedSession = {
      siteId: access.siteId,

      /** Sends a request. After a 401 it refreshes the token and retries once. */
      call: (request: Call) =>
        Effect.gen(function* () {
          const usedToken = access.accessToken
          const reply = yield* sendWithToken(request)
          if (reply.status !== 401) return reply
          access = yield* grants.renew(tenant, integration, usedToken)
          return yield* sendWithToken(request)
        })
    }
    return session
  })

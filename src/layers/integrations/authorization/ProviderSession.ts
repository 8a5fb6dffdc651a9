import { Effect } from "effect"
import type { TenantId } from "../../../domain/tenancy/Tenant.ts"
import type { AuthorizedSession } from "../../infra/oauth/AuthorizedSession.ts"
import { type ProviderRequest, redactSecret, sendProviderRequest } from "../../infra/providerHttp/ProviderRequest.ts"
import { Grants } from "./Grants.ts"

/** Sends requests with the access token of an integration. */
export const openProviderSession = (tenant: TenantId, integration: string) =>
  Effect.gen(function* () {
    const grants = yield* Grants
    let access = yield* grants.getAccess(tenant, integration)

    const sendWithToken = (request: ProviderRequest) => {
      const { accessToken } = access
      const sending = sendProviderRequest({
        ...request,
        headers: { ...request.headers, authorization: `Bearer ${accessToken}` }
      })
      return Effect.map(sending, (reply) => redactSecret(reply, accessToken))
    }

    const session: AuthorizedSession = {
      siteId: access.siteId,

      /** Sends a request. After a 401 it refreshes the token and retries once. */
      send: (request: ProviderRequest) =>
        Effect.gen(function* () {
          const usedToken = access.accessToken
          const reply = yield* sendWithToken(request)
          if (reply.status !== 401) return reply
          access = yield* grants.renewAccess(tenant, integration, usedToken)
          return yield* sendWithToken(request)
        })
    }
    return session
  })

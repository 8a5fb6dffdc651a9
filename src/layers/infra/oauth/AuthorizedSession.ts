import { Data, type Effect } from "effect"
import type { NoResponse, ProviderRequest, ProviderResponse } from "../providerHttp/ProviderRequest.ts"
import type { ProviderUnavailable } from "./OAuthRequest.ts"

/** The integration has no usable token. It stays unusable until a person authorizes it again. */
export class GrantLost extends Data.TaggedError("GrantLost")<{ readonly reason: string }> {}

/** Calls to a provider with the access token of one integration. */
export interface AuthorizedSession {
  readonly siteId: string | undefined
  readonly send: (
    call: ProviderRequest
  ) => Effect.Effect<ProviderResponse, NoResponse | GrantLost | ProviderUnavailable>
}

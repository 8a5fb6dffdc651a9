import { Data, type Effect } from "effect"
import type { Call, NoAnswer, Reply } from "../providerHttp/Calls.ts"
import type { ProviderAway } from "./Ask.ts"

/** The integration has no usable token. It stays unusable until a person authorizes it again. */
export class GrantLost extends Data.TaggedError("GrantLost")<{ readonly reason: string }> {}

/** Calls to a provider with the access token of one integration. */
export interface AuthorizedSession {
  readonly siteId: string | undefined
  readonly call: (call: Call) => Effect.Effect<Reply, NoAnswer | GrantLost | ProviderAway>
}

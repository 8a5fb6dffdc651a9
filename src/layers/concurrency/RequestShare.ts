import { Context } from "effect"

/**
 * Whose share of the connections and of the event loop work takes, for example that of a caller and a tenant. The keys may
 * become known while the work runs. Work without keys shares with nobody.
 */
export class RequestShare extends Context.Reference<RequestShare>()("layers/RequestShare", {
  defaultValue: (): { readonly keys: ReadonlyArray<string> } => ({ keys: [] })
}) {}

import { Context } from "effect"

/**
 * Whose share of the pool a statement takes, for example that of a caller and a tenant. The keys may become known while the
 * work runs. Work without keys shares with nobody.
 */
export class ConnectionShare extends Context.Reference<ConnectionShare>()("layers/ConnectionShare", {
  defaultValue: (): { readonly keys: ReadonlyArray<string> } => ({ keys: [] })
}) {}

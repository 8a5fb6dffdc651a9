import { Context } from "effect"
import type { StatementGuard } from "../postgres/connection/StatementGuard.ts"

export interface Share {
  readonly keys: ReadonlyArray<string>
  /** What the server must confirm before it runs the first statement of the work. */
  readonly guard?: StatementGuard | undefined
}

/**
 * Whose share of the connections and of the event loop work takes, for example that of a caller and a tenant. The keys may
 * become known while the work runs. Work without keys shares with nobody.
 */
export class RequestShare extends Context.Reference<RequestShare>()("layers/RequestShare", {
  defaultValue: (): Share => ({ keys: [] })
}) {}

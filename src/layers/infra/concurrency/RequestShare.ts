import { Context } from "effect"

/**
 * A statement that goes out before the first one of a request, in the same packet. If it fails, the server skips
 * everything up to the end of the packet, so that nothing of the request has happened. Until it is confirmed, every further
 * statement takes it along: work that ignores a failure and goes on is rejected again.
 */
export interface StatementGuard {
  readonly text: string
  readonly values: ReadonlyArray<unknown>
  state: "pending" | "confirmed" | "rejected"
}

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

import type { Effect, Scope } from "effect"
import type pg from "pg"
import type { Receivers } from "../delivery/receivers.ts"
import type { BenchEnvironment } from "../servers.ts"
import type { BenchTenant } from "../support/benchTenant.ts"

export interface QueueFixture {
  readonly environment: BenchEnvironment
  readonly token: string
  readonly client: pg.Client
  readonly receivers: Receivers
  readonly rounds: number
  /** Creates a tenant with one receiver, subscribed to all events of clients. */
  readonly createTenant: Effect.Effect<ReceivingTenant, never, Scope.Scope>
}

export interface ReceivingTenant extends BenchTenant {
  readonly integration: string
}

/** Values and baselines of alternating rounds, and the bound of their ratio. */
export interface Comparison {
  readonly description: string
  readonly unit: string
  readonly values: ReadonlyArray<number>
  readonly baselines: ReadonlyArray<number>
  readonly bound: { readonly min: number } | { readonly max: number }
}

export interface QueuePart {
  readonly name: string
  readonly measure: (scene: QueueFixture) => Effect.Effect<ReadonlyArray<Comparison>, never, Scope.Scope>
}

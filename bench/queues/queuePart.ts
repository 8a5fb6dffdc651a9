import type { Effect, Scope } from "effect"
import type pg from "pg"
import type { Receivers } from "../delivery/receivers.ts"
import type { BenchEnvironment } from "../servers.ts"
import type { BenchTenant } from "../support/benchTenant.ts"

/** What the parts work on. */
export interface QueueFixture {
  readonly environment: BenchEnvironment
  readonly token: string
  readonly client: pg.Client
  readonly receivers: Receivers
  readonly rounds: number
  /** Another tenant each time, whose only receiver is told of everything about clients. */
  readonly createTenant: Effect.Effect<ReceivingTenant, never, Scope.Scope>
}

export interface ReceivingTenant extends BenchTenant {
  readonly integration: string
}

/** One comparison, of rounds that alternate, and what it may come to. */
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

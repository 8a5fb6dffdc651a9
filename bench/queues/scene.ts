import type { Effect, Scope } from "effect"
import type pg from "pg"
import type { Receivers } from "../delivery/receivers.ts"
import type { BenchTenant } from "../running/tenant.ts"
import type { Setting } from "../servers.ts"

/** What the parts work on. */
export interface Scene {
  readonly setting: Setting
  readonly token: string
  readonly client: pg.Client
  readonly receivers: Receivers
  readonly rounds: number
  /** Another tenant each time, whose only receiver is told of everything about clients. */
  readonly newTenant: Effect.Effect<ReceivingTenant, never, Scope.Scope>
}

export interface ReceivingTenant extends BenchTenant {
  readonly integration: string
}

/** One comparison, of rounds that alternate, and what it may come to. */
export interface Finding {
  readonly what: string
  readonly unit: string
  readonly ones: ReadonlyArray<number>
  readonly others: ReadonlyArray<number>
  readonly bound: { readonly min: number } | { readonly max: number }
}

export interface Part {
  readonly name: string
  readonly measure: (scene: Scene) => Effect.Effect<ReadonlyArray<Finding>, never, Scope.Scope>
}

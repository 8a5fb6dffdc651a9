import type pg from "pg"
import type { Receivers } from "../bench/delivery/receivers.ts"
import type { Attacker } from "./attacker.ts"

/** What a row works with: the attacker, and what he does not have but would have grown in time. */
export interface Scene {
  readonly attacker: Attacker
  readonly client: pg.Client
  readonly receivers: Receivers
  readonly natsUrl: string
  readonly namespace: string
}

/** Something measured after an attack besides the victim. */
export interface Finding {
  readonly what: string
  readonly isBroken: boolean
}

export interface Attack {
  /** Ends soon after the signal does; what it is in the midst of is given up. */
  readonly run: (until: AbortSignal) => Promise<void>
  readonly check?: () => Promise<ReadonlyArray<Finding>>
}

/** One thing a caller may do to the others. */
export interface Row {
  readonly name: string
  readonly prepare: (scene: Scene) => Promise<Attack>
}

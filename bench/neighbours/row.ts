import type pg from "pg"
import type { Receivers } from "../delivery/receivers.ts"
import type { Attacker } from "./attacker.ts"

/** What a row uses to prepare an attack: direct database access stands for growth over time. */
export interface AttackFixture {
  readonly attacker: Attacker
  readonly client: pg.Client
  readonly receivers: Receivers
  readonly baseUrl: string
  /** Makes a token of another caller. */
  readonly signTokenFor: (subject: string) => Promise<string>
  readonly natsUrl: string
  readonly namespace: string
}

export type SignTokenFor = AttackFixture["signTokenFor"]

/** A check after an attack, besides the victim's measurements. */
export interface Finding {
  readonly description: string
  readonly isViolation: boolean
}

export interface Attack {
  /** Ends soon after the signal aborts and abandons open requests. */
  readonly run: (until: AbortSignal) => Promise<void>
  readonly check?: () => Promise<ReadonlyArray<Finding>>
}

/** One kind of attack. */
export interface Row {
  readonly name: string
  readonly prepare: (fixture: AttackFixture) => Promise<Attack>
}

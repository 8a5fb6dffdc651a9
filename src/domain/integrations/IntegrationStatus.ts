import { Effect } from "effect"
import { breaks } from "../Errors.ts"
import { oneOf } from "../Schemas.ts"

export const IntegrationStatus = oneOf("PENDING_AUTH", "ACTIVE", "PAUSED", "ERROR")
export type IntegrationStatus = typeof IntegrationStatus.Type

interface Move {
  readonly from: ReadonlyArray<IntegrationStatus>
  readonly to: IntegrationStatus
  /** What the event about it is called. */
  readonly event: string
}

/** How an integration goes from one status to another. What is not here cannot happen. */
export const integrationMoves = {
  pause: { from: ["ACTIVE"], to: "PAUSED", event: "paused" },
  resume: { from: ["PAUSED", "ERROR"], to: "ACTIVE", event: "resumed" },
  fail: { from: ["ACTIVE"], to: "ERROR", event: "error" },
  authorize: { from: ["PENDING_AUTH", "ERROR", "ACTIVE"], to: "ACTIVE", event: "updated" },
  /** What its provider had allowed is allowed no more. */
  lose: { from: ["ACTIVE", "PAUSED", "ERROR"], to: "ERROR", event: "error" }
} as const satisfies Readonly<Record<string, Move>>

export type IntegrationMove = keyof typeof integrationMoves

export const canMove = (status: IntegrationStatus, name: IntegrationMove) => {
  const { from }: Move = integrationMoves[name]
  return from.includes(status)
}

/** Fails unless an integration can make the move from where it is. */
export const mayMove = (status: IntegrationStatus, name: IntegrationMove) => {
  const { from, to } = integrationMoves[name]
  return canMove(status, name)
    ? Effect.void
    : Effect.fail(breaks("status", "state", `is ${status}; only ${from.join(" or ")} can become ${to}`))
}

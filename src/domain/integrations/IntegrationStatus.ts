import { Effect } from "effect"
import { breaks } from "../Errors.ts"
import { oneOf } from "../Schemas.ts"

export const IntegrationStatus = oneOf("PENDING_AUTH", "ACTIVE", "PAUSED", "ERROR")
export type IntegrationStatus = typeof IntegrationStatus.Type

interface Transition {
  readonly from: ReadonlyArray<IntegrationStatus>
  readonly to: IntegrationStatus
  /** The action in the type of its event: `integration.<event>`. */
  readonly event: string
}

/** The state machine of an integration: all allowed transitions. */
export const integrationMoves = {
  pause: { from: ["ACTIVE"], to: "PAUSED", event: "paused" },
  resume: { from: ["PAUSED", "ERROR"], to: "ACTIVE", event: "resumed" },
  fail: { from: ["ACTIVE"], to: "ERROR", event: "error" },
  authorize: { from: ["PENDING_AUTH", "ERROR", "ACTIVE"], to: "ACTIVE", event: "updated" },
  /** The provider revoked the authorization. */
  lose: { from: ["ACTIVE", "PAUSED", "ERROR"], to: "ERROR", event: "error" }
} as const satisfies Readonly<Record<string, Transition>>

export type IntegrationMove = keyof typeof integrationMoves

export const canMove = (status: IntegrationStatus, name: IntegrationMove) => {
  const { from }: Transition = integrationMoves[name]
  return from.includes(status)
}

/** Fails unless the transition is allowed from the current status. */
export const mayMove = (status: IntegrationStatus, name: IntegrationMove) => {
  const { from, to } = integrationMoves[name]
  return canMove(status, name)
    ? Effect.void
    : Effect.fail(breaks("status", "state", `is ${status}; only ${from.join(" or ")} can become ${to}`))
}

import { Either } from "effect"
import { fieldError } from "../Errors.ts"
import { field, oneOf } from "../Schemas.ts"

export const IntegrationStatus = field(
  oneOf("PENDING_AUTH", "ACTIVE", "PAUSED", "ERROR"),
  "PENDING_AUTH: waits for an OAuth authorization. ACTIVE: in use. PAUSED: events are kept until it is resumed. " +
    "ERROR: stopped; `statusReason` says why, and events are kept until it is resumed.",
  "ACTIVE"
)
export type IntegrationStatus = typeof IntegrationStatus.Type

interface Transition {
  readonly from: ReadonlyArray<IntegrationStatus>
  readonly to: IntegrationStatus
  /** The action in the type of its event: `integration.<event>`. */
  readonly event: string
}

/** The state machine of an integration: all allowed transitions. */
export const integrationTransitions = {
  pause: { from: ["ACTIVE"], to: "PAUSED", event: "paused" },
  resume: { from: ["PAUSED", "ERROR"], to: "ACTIVE", event: "resumed" },
  fail: { from: ["ACTIVE"], to: "ERROR", event: "error" },
  authorize: { from: ["PENDING_AUTH", "ERROR", "ACTIVE"], to: "ACTIVE", event: "updated" },
  /** The provider revoked the authorization. */
  lose: { from: ["ACTIVE", "PAUSED", "ERROR"], to: "ERROR", event: "error" }
} as const satisfies Readonly<Record<string, Transition>>

export type IntegrationTransition = keyof typeof integrationTransitions

export const canTransitionIntegration = (status: IntegrationStatus, name: IntegrationTransition) => {
  const { from }: Transition = integrationTransitions[name]
  return from.includes(status)
}

/** Fails unless the transition is allowed from the current status. */
export const requireIntegrationTransition = (status: IntegrationStatus, name: IntegrationTransition) => {
  const { from, to } = integrationTransitions[name]
  return canTransitionIntegration(status, name)
    ? Either.void
    : Either.left(
        fieldError("status", "state", `is ${status}; only an integration that is ${from.join(" or ")} can become ${to}`)
      )
}

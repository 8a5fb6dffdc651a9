import { Effect, Either } from "effect"
import { assert, describe, it } from "vitest"
import {
  canTransitionIntegration,
  type IntegrationStatus,
  type IntegrationTransition,
  integrationTransitions,
  requireIntegrationTransition
} from "../../../src/domain/integrations/IntegrationStatus.ts"

const statuses = ["PENDING_AUTH", "ACTIVE", "PAUSED", "ERROR"] as const

const allowed: ReadonlyArray<readonly [IntegrationStatus, IntegrationTransition, IntegrationStatus]> = [
  ["ACTIVE", "pause", "PAUSED"],
  ["PAUSED", "resume", "ACTIVE"],
  ["ERROR", "resume", "ACTIVE"],
  ["ACTIVE", "fail", "ERROR"],
  ["PENDING_AUTH", "authorize", "ACTIVE"],
  ["ERROR", "authorize", "ACTIVE"],
  ["ACTIVE", "authorize", "ACTIVE"],
  ["ACTIVE", "lose", "ERROR"],
  ["PAUSED", "lose", "ERROR"],
  ["ERROR", "lose", "ERROR"]
]

describe("The state machine of integrations", () => {
  for (const name of ["pause", "resume", "fail", "authorize", "lose"] as const) {
    for (const status of statuses) {
      const transition = allowed.find(([from, transition]) => from === status && transition === name)
      it(`${transition === undefined ? "rejects" : "allows"} ${name} from ${status}`, () => {
        assert.strictEqual(canTransitionIntegration(status, name), transition !== undefined)
        const decision = Effect.runSync(Effect.either(requireIntegrationTransition(status, name)))
        if (transition !== undefined) assert.strictEqual(integrationTransitions[name].to, transition[2])
        else {
          const [detail] = Either.isLeft(decision) ? (decision.left.details ?? []) : []
          assert.deepInclude(detail, { field: "status", constraint: "state" })
          assert.include(detail?.message, `is ${status}`)
        }
        assert.strictEqual(Either.isRight(decision), transition !== undefined)
      })
    }
  }
})

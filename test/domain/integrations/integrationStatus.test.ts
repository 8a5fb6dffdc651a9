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

const legal: ReadonlyArray<readonly [IntegrationStatus, IntegrationTransition, IntegrationStatus]> = [
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

describe("an integration", () => {
  for (const name of ["pause", "resume", "fail", "authorize", "lose"] as const) {
    for (const status of statuses) {
      const way = legal.find(([from, move]) => from === status && move === name)
      it(`that is ${status} ${way === undefined ? "cannot" : "can"} ${name}`, () => {
        assert.strictEqual(canTransitionIntegration(status, name), way !== undefined)
        const verdict = Effect.runSync(Effect.either(requireIntegrationTransition(status, name)))
        if (way !== undefined) assert.strictEqual(integrationTransitions[name].to, way[2])
        else {
          const [detail] = Either.isLeft(verdict) ? (verdict.left.details ?? []) : []
          assert.deepInclude(detail, { field: "status", constraint: "state" })
          assert.include(detail?.message, `is ${status}`)
        }
        assert.strictEqual(Either.isRight(verdict), way !== undefined)
      })
    }
  }
})

import { assert, describe, it } from "vitest"
import { isOAuthProvider, requireOAuthProvider } from "../../../src/domain/integrations/Authorization.ts"
import { requireIntegrationTransition } from "../../../src/domain/integrations/IntegrationStatus.ts"
import { requireSecretQuota } from "../../../src/domain/integrations/SecretRotation.ts"
import { assertPasses, errorsOf, messagesOf } from "../../support/assertions/decisions.ts"

describe("requireSecretQuota", () => {
  it("counts the current secret beside the replaced ones", () => {
    assert.isUndefined(errorsOf(requireSecretQuota(8, 24, 10)))
    assert.deepStrictEqual(errorsOf(requireSecretQuota(9, 24, 10)), ["overlapHours quota"])
    assert.deepStrictEqual(errorsOf(requireSecretQuota(9, 1, 10)), ["overlapHours quota"])
  })

  it("always allows a rotation without overlap, which adds no secret", () => {
    assert.isUndefined(errorsOf(requireSecretQuota(9, 0, 10)))
    assert.isUndefined(errorsOf(requireSecretQuota(50, 0, 10)))
  })
})

describe("requireOAuthProvider", () => {
  it("passes the providers with OAuth and no others", () => {
    for (const provider of ["JIRA", "GOOGLE_DRIVE"] as const) {
      assert.isTrue(isOAuthProvider(provider))
      assertPasses(requireOAuthProvider({ provider }), provider)
    }
    for (const provider of ["WEBHOOK", "NATS"] as const)
      assert.deepStrictEqual(messagesOf(requireOAuthProvider({ provider })), [
        `provider state: is ${provider}, which needs no authorization`
      ])
  })
})

describe("requireIntegrationTransition", () => {
  it("names the current status and those that allow the transition", () => {
    assert.deepStrictEqual(messagesOf(requireIntegrationTransition("PENDING_AUTH", "resume")), [
      "status state: is PENDING_AUTH; only an integration that is PAUSED or ERROR can become ACTIVE"
    ])
  })
})

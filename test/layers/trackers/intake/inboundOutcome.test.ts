import { assert, describe, it } from "vitest"
import { TenantId } from "../../../../src/domain/tenancy/Tenant.ts"
import { failedOutcome } from "../../../../src/layers/trackers/intake/InboundOutcome.ts"

describe("failedOutcome", () => {
  it("truncates the error to well-formed text that PostgreSQL can store", () => {
    const key = { tenant: TenantId.make("tnt_a"), integration: "int_a", issue: "1" }
    const webhook = { place: 0, id: "whk_a", attempts: 0, body: "{}", site: null, siteUrl: null }
    for (const length of [998, 999, 1000]) {
      const { error } = failedOutcome(key, webhook, new Error(`\u0000${"x".repeat(length)}\u{1F600}\u{1F600}`))
      assert.isTrue(error?.isWellFormed(), String(length))
      assert.isAtMost(error?.length ?? 0, 1000)
    }
  })
})

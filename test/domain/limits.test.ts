import { Schema } from "effect"
import { assert, describe, it } from "vitest"
import {
  describeQuota,
  Limit,
  quotaNames,
  quotas,
  rateLimits,
  requireQuota,
  toLimit
} from "../../src/domain/quotas/Quotas.ts"
import { isStorable } from "../../src/domain/StorableText.ts"
import { messagesOf } from "../support/assertions/decisions.ts"

describe("describeQuota", () => {
  it("says what is counted", () => {
    assert.strictEqual(describeQuota("members"), "maximum number of members per tenant")
  })
})

describe("toLimit", () => {
  it("describes a quota with its maximum and what is used", () => {
    assert.deepStrictEqual(toLimit("members", 1000, 0), {
      name: "members",
      description: "maximum number of members per tenant",
      scope: "tenant",
      max: 1000,
      used: 0
    })
  })

  it("leaves out what is used where it is unknown", () => {
    assert.notProperty(toLimit("subscriptions", 50, undefined), "used")
  })

  it.each(quotaNames)("makes a valid item of the quota %s", (name) => {
    assert.isTrue(Schema.is(Limit)(toLimit(name, quotas[name].default, 1)))
  })
})

describe("rateLimits", () => {
  it("lists the configured rate limits and no others", () => {
    assert.deepStrictEqual(rateLimits({}), [])
    assert.deepStrictEqual(rateLimits({ RATE_LIMIT_PER_TENANT: 600 }), [
      {
        name: "tenantRequests",
        description: "maximum number of requests a minute per tenant, at each api process",
        scope: "tenant",
        max: 600
      }
    ])
    const names = rateLimits({ RATE_LIMIT_PER_TENANT: 600, RATE_LIMIT_PER_CALLER: 60 }).map(({ name }) => name)
    assert.deepStrictEqual(names, ["callerRequests", "tenantRequests"])
  })
})

describe("requireQuota", () => {
  it("names the quota, its maximum, the remedy and the setting", () => {
    assert.deepStrictEqual(messagesOf(requireQuota("members", { max: 5, used: 5, field: "subject" })), [
      "subject quota: exceeds the quota members of 5 members per tenant: remove one, " +
        "or ask the operator to raise MAX_MEMBERS"
    ])
  })
})

describe("isStorable", () => {
  it("rejects NUL and unpaired surrogates", () => {
    for (const text of ["", "plain", "\u{1F600}"]) assert.isTrue(isStorable(text))
    for (const text of ["a\u0000", "\ud83d", "\ude00\ud83d"]) assert.isFalse(isStorable(text))
  })
})

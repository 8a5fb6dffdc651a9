import { assert, describe, it } from "vitest"
import { requireOtherOwner } from "../../../src/domain/tenancy/MemberRules.ts"
import { callerKey } from "../../../src/domain/tenancy/RequestContext.ts"
import { hasRole, roles } from "../../../src/domain/tenancy/Roles.ts"
import { messagesOf } from "../../support/assertions/decisions.ts"

describe("callerKey", () => {
  it("tells apart callers whose issuer and subject join to the same text", () => {
    const keys = [
      callerKey({ issuer: "a", subject: "bc" }),
      callerKey({ issuer: "ab", subject: "c" }),
      callerKey({ issuer: "bc", subject: "a" })
    ]
    assert.lengthOf(new Set(keys), 3)
  })

  it("is the same for the same caller", () => {
    const principal = { issuer: "https://issuer.example", subject: "alice" }
    assert.strictEqual(callerKey(principal), callerKey({ ...principal }))
    assert.strictEqual(callerKey(principal), '["https://issuer.example","alice"]')
  })

  it("computes the key of a principal once", () => {
    let reads = 0
    const principal = {
      issuer: "https://issuer.example",
      get subject() {
        reads += 1
        return "alice"
      }
    }
    assert.strictEqual(callerKey(principal), callerKey(principal))
    assert.strictEqual(reads, 1)
  })
})

describe("hasRole", () => {
  it("includes the permissions of all lower roles", () => {
    const ascending = ["VIEWER", "MEMBER", "ADMIN", "OWNER"] as const
    assert.deepStrictEqual(roles, ascending)
    ascending.forEach((actual, rank) => {
      ascending.forEach((required, requiredRank) => {
        assert.strictEqual(hasRole(actual, required), rank >= requiredRank, `${actual} ${required}`)
      })
    })
  })
})

describe("requireOtherOwner", () => {
  it("says what to do first", () => {
    assert.deepStrictEqual(messagesOf(requireOtherOwner(1)), [
      "role state: is OWNER, and no other member is; make another member an OWNER first"
    ])
  })
})

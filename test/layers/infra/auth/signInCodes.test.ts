import { assert, describe, it } from "vitest"
import { codeLifetimeMs, maxCodes, SignInCodes } from "../../../../src/layers/infra/auth/SignInCodes.ts"

describe("SignInCodes", () => {
  const now = 1_800_000_000_000

  it("redeems a code once", () => {
    const codes = new SignInCodes()
    const code = codes.issue("alice", now)
    assert.strictEqual(codes.redeem(code, now), "alice")
    assert.isUndefined(codes.redeem(code, now))
  })

  it("redeems no code after its lifetime, and none that it did not issue", () => {
    const codes = new SignInCodes()
    const [early, late] = [codes.issue("alice", now), codes.issue("alice", now)]
    assert.strictEqual(codes.redeem(early, now + codeLifetimeMs - 1), "alice")
    assert.isUndefined(codes.redeem(late, now + codeLifetimeMs))
    assert.isUndefined(codes.redeem("", now))
  })

  it("forgets the oldest code when it is full", () => {
    const codes = new SignInCodes()
    const issued = Array.from({ length: maxCodes + 1 }, (_, index) => codes.issue(`person ${index}`, now))
    assert.isUndefined(codes.redeem(issued[0] ?? "", now))
    assert.strictEqual(codes.redeem(issued[1] ?? "", now), "person 1")
  })
})

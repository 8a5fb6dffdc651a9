import { Either } from "effect"
import { assert, describe, it } from "vitest"
import { losesOwner, requireCanManage, requireOtherOwner } from "../../../src/domain/tenancy/MemberRules.ts"
import { type Role, roles } from "../../../src/domain/tenancy/Roles.ts"
import { errorsOf } from "../../support/assertions/decisions.ts"

const canManage = (actor: Role, ...others: ReadonlyArray<Role>) => Either.isRight(requireCanManage(actor, ...others))

describe("managing members", () => {
  it("is allowed to an ADMIN for all roles but OWNER, and to an OWNER for all", () => {
    for (const role of roles) {
      assert.isFalse(canManage("VIEWER", role), role)
      assert.isFalse(canManage("MEMBER", role), role)
      assert.strictEqual(canManage("ADMIN", role), role !== "OWNER", role)
      assert.isTrue(canManage("OWNER", role), role)
    }
  })

  it("needs an OWNER if any of the roles is OWNER", () => {
    assert.isFalse(canManage("ADMIN", "MEMBER", "OWNER"))
    assert.isFalse(canManage("ADMIN", "OWNER", "MEMBER"))
    assert.isTrue(canManage("OWNER", "OWNER", "MEMBER"))
  })

  it("takes the role OWNER only from an owner that becomes something else or leaves", () => {
    for (const before of roles)
      for (const after of [...roles, undefined])
        assert.strictEqual(losesOwner(before, after), before === "OWNER" && after !== "OWNER")
  })

  it("leaves a tenant at least one owner", () => {
    assert.deepStrictEqual(errorsOf(requireOtherOwner(1)), ["role state"])
    assert.isUndefined(errorsOf(requireOtherOwner(2)))
  })
})

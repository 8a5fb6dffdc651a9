import { Either } from "effect"
import { assert, describe, it } from "vitest"
import { losesOwner, requireCanManage, requireOtherOwner } from "../../../src/domain/tenancy/MemberRules.ts"
import { type Role, roles } from "../../../src/domain/tenancy/Roles.ts"
import { errorsOf } from "../../support/assertions/decisions.ts"

const canManage = (actor: Role, ...others: ReadonlyArray<Role>) => Either.isRight(requireCanManage(actor, ...others))

describe("The member rules", () => {
  it("allow an ADMIN to manage all roles but OWNER, and an OWNER all roles", () => {
    for (const role of roles) {
      assert.isFalse(canManage("VIEWER", role), role)
      assert.isFalse(canManage("MEMBER", role), role)
      assert.strictEqual(canManage("ADMIN", role), role !== "OWNER", role)
      assert.isTrue(canManage("OWNER", role), role)
    }
  })

  it("require an OWNER if any of the roles is OWNER", () => {
    assert.isFalse(canManage("ADMIN", "MEMBER", "OWNER"))
    assert.isFalse(canManage("ADMIN", "OWNER", "MEMBER"))
    assert.isTrue(canManage("OWNER", "OWNER", "MEMBER"))
  })

  it("count an owner as lost only on a change to another role or a removal", () => {
    for (const before of roles)
      for (const after of [...roles, undefined])
        assert.strictEqual(losesOwner(before, after), before === "OWNER" && after !== "OWNER")
  })

  it("keep at least one owner in a tenant", () => {
    assert.deepStrictEqual(errorsOf(requireOtherOwner(1)), ["role state"])
    assert.isUndefined(errorsOf(requireOtherOwner(2)))
  })
})

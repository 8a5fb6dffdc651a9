import { assert, describe, it } from "vitest"
import { requireUploadable } from "../../../src/domain/branding/Asset.ts"
import { requireAttachable } from "../../../src/domain/branding/Media.ts"
import { assertPasses, errorsOf } from "../../support/assertions/decisions.ts"

const kind = "BRANDING_LOGO"

describe("An asset", () => {
  it("can be attached only if it is READY", () => {
    assertPasses(requireAttachable({ kind, status: "READY" }), { kind, status: "READY" })
    for (const status of ["PENDING", "FAILED"] as const)
      assert.deepStrictEqual(errorsOf(requireAttachable({ kind, status })), ["assetId state"])
    assert.deepStrictEqual(errorsOf(requireAttachable(undefined)), ["assetId exists"])
  })

  it("accepts an upload until it is READY", () => {
    for (const status of ["PENDING", "FAILED"] as const) assert.isUndefined(errorsOf(requireUploadable({ status })))
    assert.deepStrictEqual(errorsOf(requireUploadable({ status: "READY" })), ["status state"])
  })
})

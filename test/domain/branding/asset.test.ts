import { Schema } from "effect"
import { assert, describe, it } from "vitest"
import {
  AssetId,
  applyAssetDefaults,
  imagePath,
  requireUploadable,
  type StoredAsset,
  toAsset
} from "../../../src/domain/branding/Asset.ts"
import { type MediaItem, requireAttachable, Slot, sortMedia, toMediaItem } from "../../../src/domain/branding/Media.ts"
import { butIs } from "../../../src/domain/RejectedValue.ts"
import { messagesOf } from "../../support/assertions/decisions.ts"
import { schemaErrorsOf } from "../../support/assertions/schemaErrors.ts"

const bare: StoredAsset = {
  id: AssetId.make("ast_1"),
  kind: "BRANDING_LOGO",
  access: "SIGNED",
  contentType: "image/png",
  source: "USER_UPLOAD",
  status: "READY",
  createdAt: "2026-01-01T00:00:00.000Z",
  updatedAt: "2026-01-02T00:00:00.000Z"
}

const item = (slot: string, order: number): MediaItem =>
  toMediaItem({ attachmentId: `att_${slot}`, slot, order, assetId: "ast_1", kind: "BRANDING_LOGO" })

describe("applyAssetDefaults", () => {
  it("makes an asset PUBLIC unless the request says otherwise", () => {
    const request = { kind: "BRANDING_LOGO", contentType: "image/png" } as const
    assert.deepStrictEqual(applyAssetDefaults(request), { ...request, access: "PUBLIC" })
    assert.strictEqual(applyAssetDefaults({ ...request, access: "SIGNED" }).access, "SIGNED")
  })
})

describe("toAsset", () => {
  it("leaves out what the asset does not have", () => {
    const { id: assetId, ...rest } = bare
    assert.deepStrictEqual(toAsset(bare, undefined), { assetId, ...rest })
  })

  it("keeps what the asset has", () => {
    const stored = { ...bare, originalFileName: "logo.png", sizeBytes: 7, etag: '"x"' }
    const { id: assetId, ...rest } = stored
    assert.deepStrictEqual(toAsset(stored, "/a"), { assetId, ...rest, url: "/a" })
  })

  it("has a URL only while the asset is READY", () => {
    for (const status of ["PENDING", "FAILED"] as const) assert.notProperty(toAsset({ ...bare, status }, "/a"), "url")
  })
})

describe("imagePath and toMediaItem", () => {
  it("serve an image by the identifier of its asset", () => {
    assert.strictEqual(imagePath("ast_1"), "/api/v1/assets/ast_1")
    assert.deepStrictEqual(item("logo", 3), {
      attachmentId: "att_logo",
      slot: "logo",
      order: 3,
      assetId: "ast_1",
      kind: "BRANDING_LOGO",
      status: "READY",
      url: "/api/v1/assets/ast_1"
    })
  })
})

describe("sortMedia", () => {
  it("sorts by order, then by slot", () => {
    const items = [item("c", 2), item("b", 1), item("d", 1), item("a", 2), item("a", 0)]
    for (const given of [items, items.toReversed()])
      assert.deepStrictEqual(
        sortMedia(given).map(({ order, slot }) => `${order}${slot}`),
        ["0a", "1b", "1d", "2a", "2c"]
      )
  })
})

describe("Slot", () => {
  it("accepts a lowercase letter and up to 62 more letters, digits and hyphens", () => {
    for (const slot of ["a", "a-1", `a${"b".repeat(62)}`]) assert.isTrue(Schema.is(Slot)(slot), slot)
    for (const slot of ["", "1a", "-a", "A", "a_b", `a${"b".repeat(63)}`])
      assert.deepStrictEqual(schemaErrorsOf(Slot, slot), [
        butIs("body pattern: must be lowercase letters, digits and hyphens, starting with a letter")(slot)
      ])
  })
})

describe("requireAttachable and requireUploadable", () => {
  it("say what an asset lacks", () => {
    assert.deepStrictEqual(messagesOf(requireAttachable(undefined)), ["assetId exists: does not exist in this tenant"])
    assert.deepStrictEqual(messagesOf(requireAttachable({ kind: "BRANDING_LOGO", status: "PENDING" })), [
      "assetId state: is PENDING; only a READY asset can be attached"
    ])
    assert.deepStrictEqual(messagesOf(requireUploadable({ status: "READY" })), [
      "status state: is READY, so its image cannot change; create another asset"
    ])
  })
})

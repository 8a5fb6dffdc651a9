import { Schema } from "effect"
import { assert, describe, it } from "vitest"
import { EncodedJson, EncodedPage } from "../../src/domain/EncodedJson.ts"
import { etagOf, etagOfContent, etagOfDigest } from "../../src/domain/Etag.ts"
import { id, isIdentifier, prefixOf } from "../../src/domain/Ids.ts"
import { jsonSchemaOf, schemaErrorsOf } from "../support/assertions/schemaErrors.ts"

describe("id", () => {
  it("accepts its prefix and 1 to 64 lowercase letters and digits", () => {
    const isId = Schema.is(id("inv", "invoice"))
    for (const value of ["inv_a", "inv_0", `inv_${"z9".repeat(32)}`]) assert.isTrue(isId(value), value)
    for (const value of ["inv_", "inv", "xinv_a", "inv_A", "inv_a-", "inv_a\n", "ctr_a", `inv_${"a".repeat(65)}`])
      assert.isFalse(isId(value), value)
  })

  it("names the kind with its article in the error", () => {
    assert.deepStrictEqual(schemaErrorsOf(id("inv", "invoice"), "x"), [
      'body format: must be an invoice identifier (inv_…), but is "x"'
    ])
    assert.deepStrictEqual(schemaErrorsOf(id("prj", "project"), "x"), [
      'body format: must be a project identifier (prj_…), but is "x"'
    ])
    assert.deepStrictEqual(schemaErrorsOf(id("bil", "billable"), "x"), [
      'body format: must be a billable identifier (bil_…), but is "x"'
    ])
  })

  it("documents its pattern and what it identifies", () => {
    assert.deepStrictEqual(jsonSchemaOf(id("inv", "invoice")), {
      type: "string",
      description: "Identifier of the invoice.",
      examples: ["inv_01k9zq3v5t8w2x4y6a7b9c1d3e"],
      pattern: "^inv_[a-z0-9]{1,64}$"
    })
  })
})

describe("prefixOf and isIdentifier", () => {
  it("know the schemas created by id", () => {
    assert.strictEqual(prefixOf(id("inv", "invoice")), "inv")
    assert.isTrue(isIdentifier(id("inv", "invoice")))
    assert.isFalse(isIdentifier(Schema.String))
  })
})

describe("etagOf", () => {
  it("is a quoted digest of 27 characters that every change changes", () => {
    assert.match(etagOf({ name: "a" }), /^"[\w-]{27}"$/)
    assert.notStrictEqual(etagOf({ name: "a" }), etagOf({ name: "b" }))
    assert.strictEqual(etagOf({ name: "a" }), etagOfContent('{"name":"a"}'))
  })

  it("is the start of the SHA-256 digest in base64url", () => {
    assert.strictEqual(etagOfContent("abc"), '"ungWv48Bz-pBQUDeXa4iI7ADYaO"')
    assert.strictEqual(etagOfContent(Buffer.from("abc")), etagOfContent("abc"))
    assert.strictEqual(etagOfDigest("0123456789".repeat(4)), '"012345678901234567890123456"')
  })
})

describe("EncodedJson and EncodedPage", () => {
  it("keep the text and the position of the next page", () => {
    assert.strictEqual(new EncodedJson<object>("{}").text, "{}")
    const page = new EncodedPage<object>("{},{}", { id: "inv_1" })
    assert.deepStrictEqual([page.text, page.next], ["{},{}", { id: "inv_1" }])
  })
})

import { assert, describe, it } from "vitest"
import { ReferenceIndex } from "../../../src/domain/invoicing/ReferenceIndex.ts"

const lineOf = (siteId: string) => ({ referenceType: "jira", referenceId: "A-1", metadata: { siteId } })

describe("ReferenceIndex", () => {
  it("finds each of several lines with the same key on different sites", () => {
    const index = new ReferenceIndex()
    index.add(lineOf("one"), "inv_1")
    index.add(lineOf("other"), "inv_2")
    const errors = index.addRequest([lineOf("one"), lineOf("other"), lineOf("third")], (n) => `lines[${n}]`)
    assert.deepStrictEqual(errors, [
      { field: "lines[0]", constraint: "unique", message: "is already billed on invoice inv_1" },
      { field: "lines[1]", constraint: "unique", message: "is already billed on invoice inv_2" }
    ])
  })
})

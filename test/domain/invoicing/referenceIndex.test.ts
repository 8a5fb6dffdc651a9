import { assert, describe, it } from "vitest"
import { type ReferenceFields, ReferenceIndex } from "../../../src/domain/invoicing/ReferenceIndex.ts"

const issueId = "iss_000000000000000000000001"

const jira = (referenceId: string, metadata: Readonly<Record<string, string>> = {}): ReferenceFields => ({
  referenceType: "jira",
  referenceId,
  metadata
})

const errorsOn = (billed: ReadonlyArray<ReferenceFields>, lines: ReadonlyArray<ReferenceFields>) => {
  const index = new ReferenceIndex()
  for (const line of billed) index.add(line, "inv_1")
  return index
    .addRequest(lines, (n) => `billables[${n}].referenceId`)
    .map(({ constraint, field, message }) => `${field} ${constraint}: ${message}`)
}

describe("ReferenceIndex", () => {
  it("accepts references that are not billed yet", () => {
    assert.deepStrictEqual(errorsOn([jira("A-1")], [jira("A-2"), { referenceType: "order", referenceId: "A-1" }]), [])
  })

  it("accepts any number of lines without a reference", () => {
    assert.deepStrictEqual(errorsOn([], [{}, {}, { referenceType: "order" }, { referenceType: "order" }]), [])
  })

  it("rejects a line whose reference is already on an invoice", () => {
    assert.deepStrictEqual(errorsOn([jira("A-1")], [jira("A-2"), jira("A-1")]), [
      "billables[1].referenceId unique: is already billed on invoice inv_1"
    ])
  })

  it("rejects the second of two lines with the same reference", () => {
    assert.deepStrictEqual(errorsOn([], [jira("A-1"), jira("A-1")]), [
      "billables[1].referenceId unique: is used by an earlier line"
    ])
  })

  it("distinguishes equal keys of two sites, and matches a line without a site to any site", () => {
    const [one, other] = [jira("A-1", { siteId: "one" }), jira("A-1", { siteId: "other" })]
    assert.deepStrictEqual(errorsOn([one], [other]), [])
    assert.lengthOf(errorsOn([one], [one]), 1)
    assert.lengthOf(errorsOn([one], [jira("A-1")]), 1)
    assert.lengthOf(errorsOn([jira("A-1")], [other]), 1)
  })

  it("matches the same issue under a changed key", () => {
    assert.lengthOf(errorsOn([jira("A-1", { issueId })], [jira("B-7", { issueId })]), 1)
  })
})

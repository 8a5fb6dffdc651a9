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

describe("the references of a request", () => {
  it("pass when none is billed already", () => {
    assert.deepStrictEqual(errorsOn([jira("A-1")], [jira("A-2"), { referenceType: "order", referenceId: "A-1" }]), [])
  })

  it("may be missing on any number of lines", () => {
    assert.deepStrictEqual(errorsOn([], [{}, {}, { referenceType: "order" }, { referenceType: "order" }]), [])
  })

  it("fail on the line that bills what an invoice bills already", () => {
    assert.deepStrictEqual(errorsOn([jira("A-1")], [jira("A-2"), jira("A-1")]), [
      "billables[1].referenceId unique: is billed already, on invoice inv_1"
    ])
  })

  it("fail on the second of two lines with the same reference", () => {
    assert.deepStrictEqual(errorsOn([], [jira("A-1"), jira("A-1")]), [
      "billables[1].referenceId unique: is on a line before"
    ])
  })

  it("tell the same key of two sites apart, and match a line that names no site", () => {
    const [one, other] = [jira("A-1", { siteId: "one" }), jira("A-1", { siteId: "other" })]
    assert.deepStrictEqual(errorsOn([one], [other]), [])
    assert.lengthOf(errorsOn([one], [one]), 1)
    assert.lengthOf(errorsOn([one], [jira("A-1")]), 1)
    assert.lengthOf(errorsOn([jira("A-1")], [other]), 1)
  })

  it("match the same issue under a key that has changed since", () => {
    assert.lengthOf(errorsOn([jira("A-1", { issueId })], [jira("B-7", { issueId })]), 1)
  })
})

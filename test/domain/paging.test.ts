import { assert, describe, it } from "vitest"
import { parseSort, positionOf, sortsOf } from "../../src/domain/Paging.ts"

describe("sortsOf", () => {
  it("lists every field ascending and descending", () => {
    assert.deepStrictEqual(sortsOf(["name", "createdAt"]), ["name", "createdAt", "-name", "-createdAt"])
  })
})

describe("parseSort", () => {
  it("reads a minus as descending", () => {
    assert.deepStrictEqual(parseSort("name"), { field: "name", isDescending: false })
    assert.deepStrictEqual(parseSort("-name"), { field: "name", isDescending: true })
  })
})

describe("positionOf", () => {
  const row = { id: "inv_1", order: 3, name: "Pump", totalMinor: 7 }

  it("is the row itself without a sort", () => {
    assert.strictEqual(positionOf(row, undefined), row)
  })

  it("has the value of the sorted field, or null", () => {
    assert.deepStrictEqual(positionOf(row, "-name"), { id: "inv_1", sort: "-name", key: "Pump" })
    assert.deepStrictEqual(positionOf(row, "totalMinor"), { id: "inv_1", sort: "totalMinor", key: "7" })
    assert.deepStrictEqual(positionOf(row, "dueAt"), { id: "inv_1", sort: "dueAt", key: null })
  })
})

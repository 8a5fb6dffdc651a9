import { assert, describe, it } from "vitest"
import { sortDetails } from "../../src/console/api/fieldErrors.ts"

const detail = (field: string, message: string) => ({ field, message, constraint: "format" })

describe("sortDetails", () => {
  it("puts each detail to the field of the form that it names", () => {
    const { byField, others } = sortDetails(
      [detail("name", "is required"), detail("zip", "is too long")],
      ["name", "zip"]
    )
    assert.deepStrictEqual(
      [...byField],
      [
        ["name", "is required"],
        ["zip", "is too long"]
      ]
    )
    assert.deepStrictEqual(others, [])
  })

  it("shows a part of a field at the field", () => {
    const details = [detail("discount.percent", "is too high"), detail("to[1]", "is no address")]
    assert.deepStrictEqual([...sortDetails(details, ["discount", "to"]).byField.keys()], ["discount", "to"])
  })

  it("joins two errors of one field, and keeps what the form has no field for as sentences", () => {
    const { byField, others } = sortDetails(
      [detail("name", "is too long"), detail("name", "is taken"), detail("capMinor", "is exceeded")],
      ["name"]
    )
    assert.strictEqual(byField.get("name"), "is too long, and is taken")
    assert.deepStrictEqual(others, ["capMinor is exceeded"])
  })
})

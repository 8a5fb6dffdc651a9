import { assert, describe, it } from "vitest"
import { describeHost, isWorthRepeating } from "../../scripts/busyHost.mjs"

describe("npm test", () => {
  it.each([
    ["repeats the files of few failed tests on a busy host", 5, 3, true],
    ["repeats nothing on a quiet host", 4, 1, false],
    ["repeats nothing where no test failed", 50, 0, false],
    ["repeats nothing where many files failed", 50, 4, false]
  ])("%s", (_, stolenPercent, failed, expected) => {
    const files = Array.from({ length: failed }, (_, n) => `test/${n}.test.ts`)
    assert.strictEqual(isWorthRepeating(stolenPercent, files), expected)
  })

  it("says how busy the host was, unless it was quiet", () => {
    assert.include(describeHost(12), "12 %")
    assert.strictEqual(describeHost(4), "")
  })
})

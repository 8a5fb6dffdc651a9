import { writeFileSync } from "node:fs"
import { relative } from "node:path"

/** A vitest reporter that writes to a file for `test.mjs` how many tests passed and failed, and in which files. */
export default class CountingReporter {
  onTestRunEnd(modules) {
    const states = modules.flatMap((module) => {
      const tests = [...module.children.allTests()].map((test) => test.result().state)
      // A file that fails to load has no failed test; count it as one.
      return module.ok() || tests.includes("failed") ? tests : [...tests, "failed"]
    })
    const count = (expected) => states.filter((state) => state === expected).length
    const failedFiles = modules
      .filter((module) => !module.ok())
      .map(({ moduleId }) => relative(process.cwd(), moduleId))
    const counts = { passed: count("passed"), failed: count("failed"), failedFiles }
    writeFileSync(process.env.TEST_COUNTS, JSON.stringify(counts))
  }
}

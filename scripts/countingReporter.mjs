import { writeFileSync } from "node:fs"

/** A vitest reporter that writes the numbers of passed and failed tests to a file for `test.mjs`. */
export default class CountingReporter {
  onTestRunEnd(modules) {
    const states = modules.flatMap((module) => {
      const tests = [...module.children.allTests()].map((test) => test.result().state)
      // A file that fails to load has no failed test; count it as one.
      return module.ok() || tests.includes("failed") ? tests : [...tests, "failed"]
    })
    const count = (expected) => states.filter((state) => state === expected).length
    writeFileSync(process.env.TEST_COUNTS, JSON.stringify({ passed: count("passed"), failed: count("failed") }))
  }
}

/** @type {import("@stryker-mutator/api/core").PartialStrykerOptions} */
export default {
  mutate: ["src/domain/**/*.ts"],
  plugins: ["@stryker-mutator/vitest-runner"],
  testRunner: "vitest",
  // perTest coverage selects the tests of a mutant; searching for related files again costs more than the tests.
  vitest: { configFile: "vitest.mutation.config.ts", related: false },
  coverageAnalysis: "perTest",
  // Static mutants are in code that runs on import: fields, descriptions and examples of schemas, and tables. Each needs
  // a new worker and most of the tests, and most of them change a text that no domain test should pin.
  ignoreStatic: true,
  // Vitest checks no types.
  disableTypeChecks: false,
  concurrency: 2,
  dryRunTimeoutMinutes: 15,
  thresholds: { high: 95, low: 90, break: 85 },
  reporters: ["progress", "clear-text", "html", "json"],
  clearTextReporter: { logTests: false, reportTests: false },
  htmlReporter: { fileName: "node_modules/.cache/mutation/report.html" },
  jsonReporter: { fileName: "node_modules/.cache/mutation/report.json" },
  incrementalFile: "node_modules/.cache/mutation/incremental.json",
  tempDirName: ".cache/mutation",
  ignorePatterns: [".data", "dist"]
}

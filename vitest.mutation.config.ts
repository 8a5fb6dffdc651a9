import Tinypool from "tinypool"
import { defineConfig } from "vitest/config"
import { common, quick } from "./vitest.config.ts"

// Without this, Vitest starts a new worker for every mutant, and most of the time goes into loading packages again. A
// worker can be kept: a global variable activates a mutant, and `ignoreStatic` excludes those that need a new import.
Tinypool.prototype.recycleWorkers = () => Promise.resolve()

/** The project `quick` on its own: Stryker has no option to select a project. Stryker has timeouts of its own. */
export default defineConfig({
  test: { ...common, include: quick, testTimeout: 0, setupFiles: "test/support/mutation/deactivateMutant.ts" }
})

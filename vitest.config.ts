import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: "test/support/globalSetup.ts",
    pool: "forks",
    // Loading the packages takes longer than most files take to run, so files share what a worker has loaded.
    isolate: false,
    // Tests mostly wait for servers, so two files side by side pay off on two cores as well.
    minWorkers: 1,
    maxWorkers: Math.max(2, availableParallelism() - 1),
    testTimeout: 30_000,
    hookTimeout: 60_000
  }
})

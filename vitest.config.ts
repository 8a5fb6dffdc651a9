import { readFileSync } from "node:fs"
import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"

/** What the build does with migrations: an imported `.sql` file is its text. */
const sqlAsText = {
  name: "sql-as-text",
  load: (id: string) => (id.endsWith(".sql") ? `export default ${JSON.stringify(readFileSync(id, "utf8"))}` : undefined)
}

export default defineConfig({
  plugins: [sqlAsText],
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: "test/support/globalSetup.ts",
    pool: "forks",
    // Tests mostly wait for servers, so two files side by side pay off on two cores as well.
    minWorkers: 1,
    maxWorkers: Math.max(2, availableParallelism() - 1),
    testTimeout: 30_000,
    hookTimeout: 60_000
  }
})

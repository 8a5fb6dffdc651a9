import { defineConfig } from "vitest/config"
import { common } from "../../../vitest.config.ts"

/** The measurements of `npm run check:console`, which takes minutes and is no part of `npm test`. */
export default defineConfig({
  test: {
    ...common,
    include: ["test/support/consoleCheck/*.check.ts"],
    globalSetup: "test/support/servers/globalSetup.ts",
    testTimeout: 3_600_000,
    hookTimeout: 300_000
  }
})

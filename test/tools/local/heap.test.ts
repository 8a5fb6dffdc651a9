import { readFileSync } from "node:fs"
import { assert, it } from "vitest"
import { apiHeapOptions } from "../../../tools/local/process/HeapOptions.ts"

it("npm run api sets the same heap options as npm start", () => {
  const { scripts } = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8"))
  assert.strictEqual(scripts.api, `exec node ${apiHeapOptions.join(" ")} scripts/run.mjs api`)
})

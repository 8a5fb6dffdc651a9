import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import { assert } from "vitest"
import { readSettings, settings } from "../../../src/layers/infra/config/Settings.ts"
import { workerNames } from "../../../src/workers/registry.ts"
import { projectRoot } from "../../../tools/local/ProjectRoot.ts"
import { apiHeapOptions } from "../../../tools/local/process/HeapOptions.ts"

export const readProjectFile = (path: string) => readFileSync(join(projectRoot, path), "utf8")

/** Every command that a deployment runs: the arguments of node, by the name of the process. */
export const commands: Readonly<Record<string, ReadonlyArray<string>>> = {
  migrate: ["dist/main.js", "migrate"],
  api: [...apiHeapOptions, "dist/main.js", "api"],
  ...Object.fromEntries(workerNames.map((name) => [name, ["dist/main.js", "worker", name]]))
}

/** Asserts that a process in production accepts these settings and knows all of them. */
export const assertSettings = async (environment: Readonly<Record<string, string>>) => {
  assert.deepStrictEqual(
    Object.keys(environment).filter((name) => !(name in settings)),
    []
  )
  for (const server of environment["NATS_URL"]?.split(",") ?? [])
    await Effect.runPromise(readSettings({ ...environment, NATS_URL: server, NODE_ENV: "production" }))
}

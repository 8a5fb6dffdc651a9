import { Effect } from "effect"
import { assert } from "vitest"
import { readSettings } from "../../../src/layers/infra/config/Settings.ts"

/** Why an environment is refused. Failing with the settings themselves would take vitest for ever to print. */
export const settingsErrors = (environment: NodeJS.ProcessEnv) =>
  Effect.runPromise(
    Effect.match(readSettings(environment), {
      onFailure: (error) => error,
      onSuccess: () => assert.fail("the settings are accepted")
    })
  )

import { Effect, Layer } from "effect"
import { withProbes } from "../http/WorkerProbes.ts"
import { isWorkerName, workerLive, workerNames } from "../workers/registry.ts"
import { serve } from "./serve.ts"
import { UnusableArguments } from "./UnusableArguments.ts"

/** Runs one worker, or several in one process. */
export const run = (names: ReadonlyArray<string>) => {
  const [first, ...others] = names.filter(isWorkerName)
  const unknown = names.find((name) => !isWorkerName(name))
  if (unknown !== undefined || first === undefined) {
    const message = `"${unknown ?? ""}" is not a worker. The workers are: ${workerNames.join(", ")}`
    return Effect.fail(new UnusableArguments({ message }))
  }
  const live = others.reduce((merged, name) => Layer.merge(merged, workerLive(name)), workerLive(first))
  return serve(others.length === 0 ? first : "workers", withProbes(live))
}

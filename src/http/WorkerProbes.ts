import { Context, Effect, Layer } from "effect"
import { DeliveryMetrics } from "../layers/delivery/DeliveryMetrics.ts"
import { type LoopState, Loops } from "../layers/infra/telemetry/Loops.ts"
import { MetricsRegistry } from "../layers/infra/telemetry/MetricsRegistry.ts"
import { IntakeMetrics } from "../layers/trackers/IntakeMetrics.ts"
import { serveMetrics } from "./Metrics.ts"
import type { PlainRoute } from "./server/AnonymousRequests.ts"
import { RequestMetrics } from "./server/pages/RequestMetrics.ts"
import { jsonResponse } from "./server/response/HttpResponse.ts"

const noStore = { "cache-control": "no-store" }

const respond = (isFine: boolean, body: object) => jsonResponse(isFine ? 200 : 503, JSON.stringify(body), noStore)

const toObject = (states: ReadonlyArray<LoopState>) =>
  Object.fromEntries(states.map(({ name, state }) => [name, state]))

/** Makes /readyz of a worker fail. */
class Readiness extends Context.Tag("http/Readiness")<Readiness, { readonly fail: () => void }>() {}

/** A worker is alive while its loops make progress, and ready while none of them fails. */
const makeProbes = Effect.map(Loops, ({ states }) => {
  let isStopping = false
  const routes = [
    {
      path: "/healthz",
      respond: () =>
        Effect.sync(() => {
          const loops = states()
          const alive = loops.every(({ state }) => state !== "STALLED")
          return respond(alive, { alive, loops: toObject(loops) })
        })
    },
    {
      path: "/readyz",
      respond: () =>
        Effect.sync(() => {
          if (isStopping) return respond(false, { ready: false, stopping: true })
          const loops = states()
          const ready = loops.every(({ state }) => state === "OK")
          return respond(ready, { ready, loops: toObject(loops) })
        })
    }
  ] satisfies ReadonlyArray<PlainRoute>
  return {
    routes,
    fail: () => {
      isStopping = true
    }
  }
})

const ProbesLive = Layer.scoped(
  Readiness,
  Effect.gen(function* () {
    const { fail, routes } = yield* makeProbes
    yield* serveMetrics(routes)
    return { fail }
  })
).pipe(Layer.provide([RequestMetrics.Default, MetricsRegistry.Default, DeliveryMetrics.Default, IntakeMetrics.Default]))

/** Built last, so it runs first when the worker stops. */
const stopReadinessFirst = Layer.scopedDiscard(
  Effect.flatMap(Readiness, ({ fail }) => Effect.addFinalizer(() => Effect.sync(fail)))
)

/** A worker with its metrics and health checks, which answer until its work has ended. */
export const withProbes = <E, R>(worker: Layer.Layer<never, E, R>) =>
  stopReadinessFirst.pipe(Layer.provideMerge(worker), Layer.provide(ProbesLive), Layer.provide(Loops.Default))

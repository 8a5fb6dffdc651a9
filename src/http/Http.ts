import { Context, Effect, Layer } from "effect"
import { Memberships } from "../layers/auth/Memberships.ts"
import { Tokens } from "../layers/auth/Tokens.ts"
import { Settings } from "../layers/config/Settings.ts"
import { Broker } from "../layers/nats/Broker.ts"
import { IdempotencyKeys } from "../layers/sql/IdempotencyKeys.ts"
import { documentOf } from "./api/Document.ts"
import { docsRoutes } from "./edge/Docs.ts"
import { healthRoutes } from "./edge/Health.ts"
import { makeListener, type PlainRoute } from "./edge/Listener.ts"
import { RequestMetrics } from "./edge/RequestMetrics.ts"
import { routesOf } from "./edge/Routes.ts"
import { listen } from "./edge/Server.ts"
import { Api, mounted } from "./Mount.ts"

/** The port the service answers on, once it does. */
export class HttpPort extends Context.Tag("http/HttpPort")<HttpPort, number>() {}

const metricsRoute = Effect.map(
  RequestMetrics,
  ({ contentType, text }): PlainRoute => ({
    path: "/metrics",
    answer: Effect.map(text, (body) => ({ status: 200, headers: { "content-type": contentType }, body }))
  })
)

/** Metrics are beside the rest, or alone on a port of their own that can be kept from the public. */
const serve = Effect.gen(function* () {
  const { HOST: host, METRICS_PORT, PORT } = yield* Settings
  const metrics = yield* metricsRoute
  const plain = [...(yield* healthRoutes), ...(yield* docsRoutes(documentOf(Api)))]
  if (METRICS_PORT !== undefined) yield* listen(yield* makeListener([], [metrics]), { host, port: METRICS_PORT })
  const routes = yield* routesOf(Api, mounted)
  const listener = yield* makeListener(routes, METRICS_PORT === undefined ? [...plain, metrics] : plain)
  const port = yield* listen(listener, { host, port: PORT })
  yield* Effect.logInfo(`Listening on http://${host}:${port}`)
  return port
})

/** The whole HTTP side; it needs settings and a database, which outlive it and so serve requests until the last. */
export const HttpLive = Layer.scoped(HttpPort, serve).pipe(
  Layer.provide([Tokens.Default, Memberships.Default, IdempotencyKeys.Default, RequestMetrics.Default, Broker.Default])
)

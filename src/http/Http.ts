import type { HttpApiGroup } from "@effect/platform"
import type { SqlClient } from "@effect/sql/SqlClient"
import { Context, Duration, Effect, Layer, type Scope } from "effect"
import { DeliveryMetrics } from "../layers/delivery/DeliveryMetrics.ts"
import { TokenVerifier } from "../layers/infra/auth/TokenVerifier.ts"
import type { BlobStore } from "../layers/infra/blobs/BlobStore.ts"
import { BlobStoreLive } from "../layers/infra/blobs/BlobStoreLive.ts"
import { Settings } from "../layers/infra/config/Settings.ts"
import { Broker } from "../layers/infra/nats/Broker.ts"
import { reservedSqlLive } from "../layers/infra/postgres/connection/PostgresClient.ts"
import { ConnectionMetrics } from "../layers/infra/telemetry/ConnectionMetrics.ts"
import { MetricsRegistry } from "../layers/infra/telemetry/MetricsRegistry.ts"
import { InboundEndpoints } from "../layers/integrations/InboundEndpoints.ts"
import { IdempotencyKeys } from "../layers/tenancy/IdempotencyKeys.ts"
import { admissionConnections, Memberships } from "../layers/tenancy/Memberships.ts"
import { IntakeMetrics } from "../layers/trackers/IntakeMetrics.ts"
import { JiraTokenVerifier } from "../layers/trackers/jira/JiraTokenVerifier.ts"
import { makeApi } from "./api/Api.ts"
import { makeOpenApiDocument } from "./api/OpenApi.ts"
import { makeClientPageRoutes } from "./clientPage/ClientPageRoutes.ts"
import { handlerServices } from "./HandlerGroups.ts"
import { metricsRoute, serveMetrics } from "./Metrics.ts"
import { makeConnectionLimits } from "./server/ConnectionLimits.ts"
import type { HandlerGroup } from "./server/Handlers.ts"
import { makeListener } from "./server/Listener.ts"
import { makeConsoleRoutes } from "./server/pages/Console.ts"
import { makeConsoleSignInRoutes } from "./server/pages/ConsoleSignIn.ts"
import { makeDevelopmentTokenRoutes } from "./server/pages/DevelopmentToken.ts"
import { makeDocsRoutes } from "./server/pages/Docs.ts"
import { makeHealth } from "./server/pages/Health.ts"
import { RequestMetrics } from "./server/pages/RequestMetrics.ts"
import { makeStartPageRoute } from "./server/pages/StartPage.ts"
import { makeRoutes } from "./server/request/Routes.ts"
import { listen } from "./server/Server.ts"

/** The port the server listens on. */
export class HttpPort extends Context.Tag("http/HttpPort")<HttpPort, number>() {}

/** In development the API's port also serves /metrics. METRICS_PORT moves it to a port that can be kept private. */
const serve = Effect.fnUntraced(function* <E, R>(
  groups: ReadonlyArray<HandlerGroup<HttpApiGroup.HttpApiGroup.Any, E, R>>
) {
  const api = makeApi(groups.map(({ group }) => group))
  const { HOST: host, METRICS_PORT, NODE_ENV, PORT, SHUTDOWN_DELAY_SECONDS, ...settings } = yield* Settings
  const isProduction = NODE_ENV === "production"
  const health = yield* makeHealth
  const tokenRoutes = yield* makeDevelopmentTokenRoutes
  const docsRoutes = yield* makeDocsRoutes(() => makeOpenApiDocument(api), { hasTokenButton: tokenRoutes.length > 0 })
  const consoleRoutes = [...(yield* makeConsoleRoutes), ...(yield* makeConsoleSignInRoutes)]
  const pages = [...health.routes, ...docsRoutes, ...tokenRoutes, ...consoleRoutes]
  const plainRoutes = [...pages, makeStartPageRoute(pages)]
  yield* serveMetrics(health.routes)
  const routes = yield* makeRoutes(api, groups)
  const pageRoutes = yield* makeClientPageRoutes
  const hasMetrics = METRICS_PORT === undefined && !isProduction
  const listener = yield* makeListener(
    routes,
    hasMetrics ? [...plainRoutes, yield* metricsRoute] : plainRoutes,
    pageRoutes
  )
  const connectionLimits = makeConnectionLimits({
    max: settings.MAX_CONNECTIONS,
    maxPerAddress: settings.MAX_CONNECTIONS_PER_ADDRESS,
    trustedProxies: settings.TRUSTED_PROXIES
  })
  const port = yield* listen(listener, { host, port: PORT }, connectionLimits)
  // Runs before the listener closes: load balancers keep sending requests until their next readiness probe.
  const shutdownDelay = Duration.seconds(SHUTDOWN_DELAY_SECONDS ?? (isProduction ? 5 : 0))
  yield* Effect.addFinalizer(() => Effect.zipRight(health.failReadiness, Effect.sleep(shutdownDelay)))
  yield* Effect.logInfo(`Listening on http://${host}:${port}`)
  return port
})

/** The services that handlers can depend on. */
export type HandlerDependencies =
  | Layer.Layer.Success<typeof handlerServices>
  | SqlClient
  | Settings
  | BlobStore
  | Broker
  | IntakeMetrics
  | Scope.Scope

/** The HTTP server. Settings and database come from outside, so they outlive the last request. */
export const httpLive = <E>(
  groups: ReadonlyArray<HandlerGroup<HttpApiGroup.HttpApiGroup.Any, E, HandlerDependencies>>
) =>
  Layer.scoped(HttpPort, serve(groups)).pipe(
    // Fresh, because the server holds some of the same services with connections of their own.
    Layer.provide(Layer.fresh(handlerServices)),
    Layer.provide([
      TokenVerifier.Default,
      JiraTokenVerifier.Default,
      Layer.provide(Layer.merge(Memberships.Default, InboundEndpoints.Default), reservedSqlLive(admissionConnections)),
      IdempotencyKeys.Default,
      RequestMetrics.Default,
      MetricsRegistry.Default,
      ConnectionMetrics.Default,
      Layer.provide(Layer.merge(DeliveryMetrics.Default, IntakeMetrics.Default), reservedSqlLive(1)),
      Broker.Default,
      BlobStoreLive
    ])
  )

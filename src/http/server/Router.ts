import type { IncomingMessage } from "node:http"
import { Effect } from "effect"
import * as FindMyWay from "find-my-way-ts"
import { type ApiError, NotFound } from "../../domain/Errors.ts"
import type { AnonymousRunner, PageRoute, PlainRoute } from "./AnonymousRequests.ts"
import type { Pipeline } from "./request/Pipeline.ts"
import type { RequestState } from "./request/RequestState.ts"
import type { Route } from "./request/Routes.ts"
import type { HttpResponse } from "./response/HttpResponse.ts"

/** What serves a request. */
export interface RouteTarget {
  readonly name: string
  readonly run: (call: RequestState) => Effect.Effect<HttpResponse, ApiError>
  /** The response to a request that is rejected before any work starts, if it is. */
  readonly rejectEarly?: (call: RequestState) => HttpResponse | undefined
  /** The response to an error, if it is not that of the API. */
  readonly toErrorResponse?: PageRoute["toErrorResponse"]
  /** Whether it is part of the API or a page. Health checks and metrics would fill traces with requests of machines. */
  readonly isTraced?: boolean
  /** Whether the work is interrupted when the client disconnects. */
  readonly isCancellable?: boolean
}

export interface ServedRoutes {
  readonly routes: ReadonlyArray<Route>
  readonly plainRoutes: ReadonlyArray<PlainRoute>
  readonly pageRoutes: ReadonlyArray<PageRoute>
}

interface FoundRoute {
  readonly target: RouteTarget
  readonly params: RequestState["params"]
}

const unknownRoute: FoundRoute = {
  target: { name: "unknown", run: () => Effect.fail(new NotFound()) },
  params: {}
}

const preflight: FoundRoute = {
  target: { name: "preflight", run: () => Effect.succeed({ status: 204, headers: {}, body: undefined }) },
  params: {}
}

const targetOf = (route: Route, pipeline: Pipeline): RouteTarget => ({
  name: route.name,
  run: (call) => pipeline.run(route, call),
  rejectEarly: (call) => pipeline.rejectEarly(route, call),
  isTraced: true,
  isCancellable: route.isExternal && route.method === "GET" && !route.isUnsafeGet
})

/** Returns a function that finds what serves a request. */
export const makeRouter = (
  { pageRoutes, plainRoutes, routes }: ServedRoutes,
  pipeline: Pipeline,
  anonymous: AnonymousRunner
) => {
  const router = FindMyWay.make<RouteTarget>({
    ignoreTrailingSlash: false,
    ignoreDuplicateSlashes: false,
    caseSensitive: true,
    maxParamLength: 16 * 1024
  })
  for (const route of routes) {
    const target = targetOf(route, pipeline)
    router.on(route.method, route.path, target)
    if (route.method === "GET" && !route.isUnsafeGet) router.on("HEAD", route.path, target)
  }
  for (const route of plainRoutes) {
    router.on(route.method ?? ["GET", "HEAD"], route.path, {
      name: route.path,
      run: (call) => anonymous.runPlain(route, call)
    })
  }
  for (const route of pageRoutes) {
    const { name, path, toErrorResponse } = route
    const run = (call: RequestState) => anonymous.runPage(route, call)
    router.on(["GET", "HEAD"], path, { name, run, toErrorResponse, isTraced: true })
  }
  return ({ method = "", url = "/" }: IncomingMessage): FoundRoute => {
    if (method === "OPTIONS") return preflight
    // The router reads the asterisk of `OPTIONS *` as `/`, and cuts a path at a semicolon.
    const isUnroutable = url === "*" || url.split("?", 1)[0]?.includes(";")
    const found = isUnroutable ? undefined : router.find(method, url)
    return found === undefined ? unknownRoute : { target: found.handler, params: found.params }
  }
}

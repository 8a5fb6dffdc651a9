import type { HttpApiEndpoint, HttpApiGroup } from "@effect/platform"
import { Effect, type Stream } from "effect"
import type { EncodedJson, EncodedPage } from "../../domain/EncodedJson.ts"
import type { ApiError } from "../../domain/Errors.ts"
import type { RequestServices } from "../../domain/tenancy/RequestContext.ts"
import type { CommittedFailure, HandlerResult, HtmlPage, PagedList, StreamedBody } from "./response/HandlerResult.ts"

interface Input<E extends HttpApiEndpoint.HttpApiEndpoint.Any> {
  readonly path: HttpApiEndpoint.HttpApiEndpoint.PathParsed<E>
  readonly query: HttpApiEndpoint.HttpApiEndpoint.UrlParams<E>
  readonly headers: HttpApiEndpoint.HttpApiEndpoint.Headers<E>
  readonly payload: HttpApiEndpoint.HttpApiEndpoint.Payload<E>
  /** The raw body. */
  readonly bytes: Buffer
  readonly upload: RequestUpload
}

/** A request body that the handler reads as a stream. */
export interface RequestUpload {
  readonly bytes: Stream.Stream<Uint8Array, ApiError>
  /** The Content-Length, if the client sent one. */
  readonly size: number | undefined
}

/** The forms in which a handler can return an A. */
type ResultBody<A> =
  | A
  | EncodedJson<A>
  | (A extends ReadonlyArray<infer Item> ? PagedList<Item> | EncodedPage<Item> : never)
  | StreamedBody
  | HtmlPage

type Handler<E extends HttpApiEndpoint.HttpApiEndpoint.Any, A = HttpApiEndpoint.HttpApiEndpoint.Success<E>> = (
  input: Input<E>
) => Effect.Effect<A | EncodedJson<A> | HandlerResult<ResultBody<A>> | CommittedFailure, ApiError, RequestServices>

/** One handler for each endpoint of a group, by the endpoint's name. */
export type Handlers<G extends HttpApiGroup.HttpApiGroup.Any> = {
  readonly [Name in HttpApiEndpoint.HttpApiEndpoint.Name<HttpApiGroup.HttpApiGroup.Endpoints<G>>]: Handler<
    HttpApiEndpoint.HttpApiEndpoint.WithName<HttpApiGroup.HttpApiGroup.Endpoints<G>, Name>
  >
}

/** A group of the API with the handlers of its endpoints. */
export interface HandlerGroup<G extends HttpApiGroup.HttpApiGroup.Any, E, R> {
  readonly group: G
  readonly handlers: Effect.Effect<Handlers<G>, E, R>
}

/** Ties handlers to a group of the API, so that the endpoints' schemas determine the handlers' types. */
export const handleGroup = <G extends HttpApiGroup.HttpApiGroup.Any, S, E, R>(
  group: G,
  dependencies: Effect.Effect<S, E, R>,
  handlers: (dependencies: S) => Handlers<G>
): HandlerGroup<G, E, R> => ({ group, handlers: Effect.map(dependencies, handlers) })

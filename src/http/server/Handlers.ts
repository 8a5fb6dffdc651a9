import type { HttpApiEndpoint, HttpApiGroup } from "@effect/platform"
import { Effect, type Stream } from "effect"
import type { WireError } from "../../domain/Errors.ts"
import type { JsonPage, JsonText } from "../../domain/JsonText.ts"
import type { CurrentMember, CurrentTenant, IfMatch, InboundCall, Principal } from "../../domain/tenancy/Caller.ts"
import type { Page, PagedList, Refusal, Reply, Streamed } from "./response/Reply.ts"

/** What the edge knows about the request by the time a handler runs. */
export type RequestServices = Principal | CurrentTenant | CurrentMember | InboundCall | IfMatch

interface Input<E extends HttpApiEndpoint.HttpApiEndpoint.Any> {
  readonly path: HttpApiEndpoint.HttpApiEndpoint.PathParsed<E>
  readonly query: HttpApiEndpoint.HttpApiEndpoint.UrlParams<E>
  readonly headers: HttpApiEndpoint.HttpApiEndpoint.Headers<E>
  readonly payload: HttpApiEndpoint.HttpApiEndpoint.Payload<E>
  /** The body as it came, for who keeps it. */
  readonly bytes: Buffer
  readonly upload: Upload
}

/** A body that is taken as it comes. */
export interface Upload {
  readonly bytes: Stream.Stream<Uint8Array, WireError>
  /** How many bytes were announced. */
  readonly size: number | undefined
}

/** What an operation that succeeds with an A answers in its place. */
type Body<A> =
  | A
  | JsonText<A>
  | (A extends ReadonlyArray<infer Item> ? PagedList<Item> | JsonPage<Item> : never)
  | Streamed
  | Page

type Handler<E extends HttpApiEndpoint.HttpApiEndpoint.Any, A = HttpApiEndpoint.HttpApiEndpoint.Success<E>> = (
  input: Input<E>
) => Effect.Effect<A | JsonText<A> | Reply<Body<A>> | Refusal, WireError, RequestServices>

/** One function for each operation of a group, under its name. */
export type Handlers<G extends HttpApiGroup.HttpApiGroup.Any> = {
  readonly [Name in HttpApiEndpoint.HttpApiEndpoint.Name<HttpApiGroup.HttpApiGroup.Endpoints<G>>]: Handler<
    HttpApiEndpoint.HttpApiEndpoint.WithName<HttpApiGroup.HttpApiGroup.Endpoints<G>, Name>
  >
}

/** A group of the contract together with what serves it. */
export interface Mounted<G extends HttpApiGroup.HttpApiGroup.Any, E, R> {
  readonly group: G
  readonly handlers: Effect.Effect<Handlers<G>, E, R>
}

/** Serves a group with functions over what they need, so that each function's types come from the contract. */
export const handle = <G extends HttpApiGroup.HttpApiGroup.Any, S, E, R>(
  group: G,
  needs: Effect.Effect<S, E, R>,
  handlers: (needs: S) => Handlers<G>
): Mounted<G, E, R> => ({ group, handlers: Effect.map(needs, handlers) })

import type { IncomingHttpHeaders } from "node:http"
import { HttpApi, type HttpApiEndpoint, type HttpApiGroup, HttpApiSchema, type HttpMethod } from "@effect/platform"
import { Context, Effect, Either, Option, ParseResult, Schema, type SchemaAST } from "effect"
import type { Detail, WireError } from "../../../domain/Errors.ts"
import { invalid, NotFound } from "../../../domain/Errors.ts"
import {
  Access,
  type AccessRule,
  BodyLimit,
  Eventless,
  External,
  LongRead,
  OnceOnly,
  SentAgain,
  Streamed
} from "../../api/Access.ts"
import type { Mounted, RequestServices, Upload } from "../Handlers.ts"
import { boundedDecoder } from "./BoundedDecoder.ts"
import { detailsOf } from "./Issues.ts"

type Endpoint = HttpApiEndpoint.HttpApiEndpoint<string, HttpMethod.HttpMethod>
type Params = Readonly<Record<string, string | undefined>>

/** What an operation reads of a request, once it is known to be well formed. */
interface Input {
  readonly path: unknown
  readonly query: unknown
  readonly headers: unknown
  readonly payload: unknown
  readonly bytes: Buffer
  readonly upload: Upload
}

/** An operation of the contract, made ready to be run. */
export interface Route {
  readonly name: string
  readonly method: string
  readonly path: `/${string}`
  readonly status: number
  readonly access: AccessRule
  readonly bodyLimit: number
  readonly hasPayload: boolean
  readonly isStreamed: boolean
  readonly isSentAgain: boolean
  readonly isEventless: boolean
  readonly isOnceOnly: boolean
  readonly isExternal: boolean
  readonly isLongRead: boolean
  readonly decodePath: (params: Params) => Effect.Effect<unknown, NotFound>
  readonly decodeRest: (
    url: string,
    headers: IncomingHttpHeaders,
    payload: unknown
  ) => Effect.Effect<Pick<Input, "query" | "headers" | "payload">, WireError>
  readonly run: (input: Input) => Effect.Effect<unknown, WireError, RequestServices>
}

type Decode = (value: unknown) => Either.Either<unknown, ParseResult.ParseIssue>

/** Of a schema of the contract only its syntax tree matters here: what it describes is plain data. */
const decoder = (schema: Option.Option<{ readonly ast: SchemaAST.AST }>): Decode | undefined =>
  Option.isNone(schema)
    ? undefined
    : ParseResult.decodeUnknownEither(Schema.make<unknown>(schema.value.ast), { errors: "all" })

const queryOf = (url: string) => Object.fromEntries(new URLSearchParams(url.split("?", 2)[1]))

const accessOf = (endpoint: Endpoint, name: string) => {
  const access = Context.getOption(endpoint.annotations, Access)
  if (Option.isNone(access)) throw new Error(`The contract does not say who may call ${name}`)
  return access.value
}

const bodyDecoder = (endpoint: Endpoint) =>
  Context.get(endpoint.annotations, Streamed) || Option.isNone(endpoint.payloadSchema)
    ? undefined
    : boundedDecoder(endpoint.payloadSchema.value.ast)

/** Reads query, headers and body together, so that the faults of all are told in one answer. */
const restDecoder = (endpoint: Endpoint): Route["decodeRest"] => {
  const query = decoder(endpoint.urlParamsSchema)
  const named = decoder(endpoint.headersSchema)
  const decodeBody = bodyDecoder(endpoint)
  const decodeWith = (url: string, headers: unknown, payload: ReturnType<Decode> | undefined) => {
    const details: Array<Detail> = []
    const part = (decoded: ReturnType<Decode> | undefined, whole: string) => {
      if (decoded === undefined) return undefined
      if (Either.isLeft(decoded)) for (const detail of detailsOf(decoded.left, whole)) details.push(detail)
      return Either.getOrUndefined(decoded)
    }
    const input = {
      query: part(query?.(queryOf(url)), "query"),
      headers: part(named?.(headers), "headers"),
      payload: part(payload, "body")
    }
    return details.length === 0 ? Effect.succeed(input) : Effect.fail(invalid(...details))
  }
  return (url, headers, body) =>
    decodeBody === undefined
      ? decodeWith(url, headers, undefined)
      : Effect.flatMap(Effect.either(decodeBody(body)), (payload) => decodeWith(url, headers, payload))
}

const pathDecoder = (endpoint: Endpoint): Route["decodePath"] => {
  const decode = decoder(endpoint.pathSchema)
  return (params) => (decode === undefined ? Effect.succeed({}) : Effect.mapError(decode(params), () => new NotFound()))
}

const routeOf = (group: string, endpoint: Endpoint, run: Route["run"]): Route => {
  const name = `${group}.${endpoint.name}`
  return {
    name,
    method: endpoint.method,
    path: endpoint.path,
    status: HttpApiSchema.getStatusSuccess(endpoint.successSchema),
    access: accessOf(endpoint, name),
    bodyLimit: Context.get(endpoint.annotations, BodyLimit),
    hasPayload: Option.isSome(endpoint.payloadSchema),
    isStreamed: Context.get(endpoint.annotations, Streamed),
    isSentAgain: Context.get(endpoint.annotations, SentAgain),
    isEventless: Context.get(endpoint.annotations, Eventless),
    isOnceOnly: Context.get(endpoint.annotations, OnceOnly),
    isExternal: Context.get(endpoint.annotations, External),
    isLongRead: Context.get(endpoint.annotations, LongRead),
    decodePath: pathDecoder(endpoint),
    decodeRest: restDecoder(endpoint),
    run
  }
}

// `handle` checked the functions against their group's own type, which a list of groups no longer tells.
const byName = (functions: object) => functions as Readonly<Record<string, Route["run"]>>

/** Every operation of the contract with the function that serves it. */
export const routesOf = <Id extends string, G extends HttpApiGroup.HttpApiGroup.Any, Error, Rest, E, R>(
  api: HttpApi.HttpApi<Id, G, Error, Rest>,
  mounted: ReadonlyArray<Mounted<HttpApiGroup.HttpApiGroup.Any, E, R>>
): Effect.Effect<ReadonlyArray<Route>, E, R> =>
  Effect.forEach(mounted, ({ group, handlers }) =>
    Effect.map(handlers, (functions) => [group.identifier, byName(functions)] as const)
  ).pipe(
    Effect.map((pairs) => {
      const served = new Map(pairs)
      const routes: Array<Route> = []
      HttpApi.reflect(api, {
        onGroup: () => {},
        onEndpoint: ({ endpoint, group }) => {
          const run = served.get(group.identifier)?.[endpoint.name]
          if (run === undefined) throw new Error(`Nothing serves ${group.identifier}.${endpoint.name}`)
          routes.push(routeOf(group.identifier, endpoint, run))
        }
      })
      return routes
    })
  )

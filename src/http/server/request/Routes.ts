import type { IncomingHttpHeaders } from "node:http"
import { HttpApi, type HttpApiEndpoint, type HttpApiGroup, HttpApiSchema, type HttpMethod } from "@effect/platform"
import { Context, Effect, Either, Option, ParseResult, Schema, type SchemaAST } from "effect"
import type { ApiError, ErrorDetail } from "../../../domain/Errors.ts"
import { NotFound, validationError } from "../../../domain/Errors.ts"
import type { RequestServices } from "../../../domain/tenancy/RequestContext.ts"
import {
  type AccessRule,
  EndpointAccess,
  External,
  MaxBodyBytes,
  NoEvents,
  RetriedBySender,
  StartsWithStatement,
  StreamedUpload,
  UnsafeGet,
  WholeList
} from "../../api/Access.ts"
import { CsvForm } from "../../api/CsvRows.ts"
import type { HandlerGroup, RequestUpload } from "../Handlers.ts"
import { type CsvFormat, makeCsvFormat } from "../response/Csv.ts"
import { makeResponseCheck } from "../response/ResponseCheck.ts"
import { makeBoundedDecoder } from "./BoundedDecoder.ts"
import { andThen, toEither } from "./Steps.ts"
import { toValidationDetails } from "./ValidationDetails.ts"

type Endpoint = HttpApiEndpoint.HttpApiEndpoint<string, HttpMethod.HttpMethod>
type Params = Readonly<Record<string, string | undefined>>

/** The decoded request, as a handler gets it. */
interface Input {
  readonly path: unknown
  readonly query: unknown
  readonly headers: unknown
  readonly payload: unknown
  readonly bytes: Buffer
  readonly upload: RequestUpload
}

/** An endpoint of the API with its decoders and its handler. */
export interface Route {
  readonly name: string
  readonly method: string
  readonly path: `/${string}`
  readonly status: number
  readonly access: AccessRule
  readonly maxBodyBytes: number
  readonly hasPayload: boolean
  readonly isStreamedUpload: boolean
  readonly isRetriedBySender: boolean
  readonly hasNoEvents: boolean
  readonly isUnsafeGet: boolean
  readonly isExternal: boolean
  readonly isWholeList: boolean
  readonly startsWithStatement: boolean
  readonly decodePath: (params: Params) => Either.Either<unknown, NotFound>
  readonly decodeRest: (
    url: string,
    headers: IncomingHttpHeaders,
    payload: unknown
  ) => Effect.Effect<Pick<Input, "query" | "headers" | "payload">, ApiError>
  readonly run: (input: Input) => Effect.Effect<unknown, ApiError, RequestServices>
  readonly checkResponse: ReturnType<typeof makeResponseCheck>
  /** The CSV form of the response, if it has one. */
  readonly csv: CsvFormat | undefined
}

type Decode = (value: unknown) => Either.Either<unknown, ParseResult.ParseIssue>

/** Drops the schema's types and keeps its AST: the handler's own types already check the decoded data. */
const makeDecoder = (schema: Option.Option<{ readonly ast: SchemaAST.AST }>): Decode | undefined =>
  Option.isNone(schema)
    ? undefined
    : ParseResult.decodeUnknownEither(Schema.make<unknown>(schema.value.ast), { errors: "all" })

const queryOf = (url: string) => {
  const start = url.indexOf("?")
  return start === -1 ? {} : Object.fromEntries(new URLSearchParams(url.slice(start + 1)))
}

const accessOf = (endpoint: Endpoint, name: string) => {
  const access = Context.getOption(endpoint.annotations, EndpointAccess)
  if (Option.isNone(access)) throw new Error(`The API sets no access rule for ${name}`)
  return access.value
}

const makeBodyDecoder = (endpoint: Endpoint) =>
  Context.get(endpoint.annotations, StreamedUpload) || Option.isNone(endpoint.payloadSchema)
    ? undefined
    : makeBoundedDecoder(endpoint.payloadSchema.value.ast)

/** Decodes query, headers and body together, so that one response reports the errors of all. */
const makeRestDecoder = (endpoint: Endpoint): Route["decodeRest"] => {
  const decodeQuery = makeDecoder(endpoint.urlParamsSchema)
  const decodeHeaders = makeDecoder(endpoint.headersSchema)
  const decodeBody = makeBodyDecoder(endpoint)
  const combine = (url: string, headers: unknown, payload: ReturnType<Decode> | undefined) => {
    const details: Array<ErrorDetail> = []
    const collectPart = (decoded: ReturnType<Decode> | undefined, partName: string) => {
      if (decoded === undefined) return undefined
      if (Either.isLeft(decoded)) for (const detail of toValidationDetails(decoded.left, partName)) details.push(detail)
      return Either.getOrUndefined(decoded)
    }
    const input = {
      query: collectPart(decodeQuery?.(queryOf(url)), "query"),
      headers: collectPart(decodeHeaders?.(headers), "headers"),
      payload: collectPart(payload, "body")
    }
    return details.length === 0 ? Effect.succeed(input) : Effect.fail(validationError(...details))
  }
  return (url, headers, body) =>
    decodeBody === undefined
      ? combine(url, headers, undefined)
      : andThen(toEither(decodeBody(body)), (payload) => combine(url, headers, payload))
}

const makePathDecoder = (endpoint: Endpoint): Route["decodePath"] => {
  const decode = makeDecoder(endpoint.pathSchema)
  return (params) => (decode === undefined ? Either.right({}) : Either.mapLeft(decode(params), () => new NotFound()))
}

/** A function that its first call makes. An api starts sooner, and makes nothing for operations that nobody calls. */
const onFirstCall = <Args extends ReadonlyArray<unknown>, A>(make: () => (...args: Args) => A) => {
  let made: ((...args: Args) => A) | undefined
  return (...args: Args) => {
    made ??= make()
    return made(...args)
  }
}

const makeRoute = (group: string, endpoint: Endpoint, run: Route["run"]): Route => {
  const name = `${group}.${endpoint.name}`
  return {
    name,
    method: endpoint.method,
    path: endpoint.path,
    status: HttpApiSchema.getStatusSuccess(endpoint.successSchema),
    access: accessOf(endpoint, name),
    maxBodyBytes: Context.get(endpoint.annotations, MaxBodyBytes),
    hasPayload: Option.isSome(endpoint.payloadSchema),
    isStreamedUpload: Context.get(endpoint.annotations, StreamedUpload),
    isRetriedBySender: Context.get(endpoint.annotations, RetriedBySender),
    hasNoEvents: Context.get(endpoint.annotations, NoEvents),
    isUnsafeGet: Context.get(endpoint.annotations, UnsafeGet),
    isExternal: Context.get(endpoint.annotations, External),
    isWholeList: Context.get(endpoint.annotations, WholeList),
    startsWithStatement: Context.get(endpoint.annotations, StartsWithStatement),
    decodePath: onFirstCall(() => makePathDecoder(endpoint)),
    decodeRest: onFirstCall(() => makeRestDecoder(endpoint)),
    run,
    checkResponse: onFirstCall(() => makeResponseCheck(name, endpoint.successSchema.ast)),
    csv:
      endpoint.method === "GET"
        ? makeCsvFormat(endpoint.successSchema.ast, endpoint.path, Context.get(endpoint.annotations, CsvForm))
        : undefined
  }
}

// `handle` checked the handlers against the type of their group. A list of groups loses that type.
const toHandlersByName = (handlers: object) => handlers as Readonly<Record<string, Route["run"]>>

/** Every endpoint of the API with its handler. */
export const makeRoutes = <Id extends string, G extends HttpApiGroup.HttpApiGroup.Any, Error, Rest, E, R>(
  api: HttpApi.HttpApi<Id, G, Error, Rest>,
  groups: ReadonlyArray<HandlerGroup<HttpApiGroup.HttpApiGroup.Any, E, R>>
): Effect.Effect<ReadonlyArray<Route>, E, R> =>
  Effect.forEach(groups, ({ group, handlers }) =>
    Effect.map(handlers, (handlers) => [group.identifier, toHandlersByName(handlers)] as const)
  ).pipe(
    Effect.map((pairs) => {
      const handlersByGroup = new Map(pairs)
      const routes: Array<Route> = []
      HttpApi.reflect(api, {
        onGroup: () => {},
        onEndpoint: ({ endpoint, group }) => {
          const run = handlersByGroup.get(group.identifier)?.[endpoint.name]
          if (run === undefined) throw new Error(`No handler for ${group.identifier}.${endpoint.name}`)
          routes.push(makeRoute(group.identifier, endpoint, run))
        }
      })
      return routes
    })
  )

import type { Method } from "../api.ts"
import { makeBodies } from "./bodies.ts"
import { limitedPerResource } from "./knownValues.ts"
import { getIdPrefix, type OpenApiDocument, type Operation, type Parameter } from "./openApi.ts"
import { type Pools, placeholder, poolsByParameter } from "./pools.ts"
import { makeQueries } from "./queries.ts"

/** One kind of request of an operation. Its texts have placeholders. */
export interface Candidate {
  readonly method: Method
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Buffer | undefined
}

/** A candidate with its placeholders filled in. */
export type PreparedRequest = Candidate

const largeBodyBytes = 10_000

export const describeCandidate = ({ body, headers, method, path }: Candidate) => {
  const accept = headers["accept"] === undefined ? "" : ` as ${headers["accept"]}`
  const size = body === undefined || body.length < largeBodyBytes ? "" : ` with ${(body.length / 1000).toFixed(0)} kB`
  return `${method} ${path}${accept}${size}`
}

type Headers = Candidate["headers"]

/** Headers besides those that depend on an earlier response. */
const makeHeaders = ({ parameters }: Operation): ReadonlyArray<Headers> => {
  const headers = parameters.filter((parameter) => parameter.in === "header")
  const required = headers.filter((parameter) => parameter.required === true && parameter.name !== "tenant-id")
  const always = Object.fromEntries(required.map(({ name }) => [name, "{{n}}"]))
  const key = headers.some(({ name }) => name === "Idempotency-Key")
  return key ? [always, { ...always, "idempotency-key": "{{n}}" }] : [always]
}

/** Makes the requests that may be the most expensive ones of an operation. Fails if it cannot make one. */
export const makeCandidates = (document: OpenApiDocument, pools: Pools, upload: Buffer) => {
  const makeBodyTemplates = makeBodies(document, pools)
  const listQueries = makeQueries(document, pools)

  const listPools = ({ name, schema }: Parameter): ReadonlyArray<string> => {
    const known = poolsByParameter[name]
    if (known !== undefined) return [known]
    const prefix = getIdPrefix(schema)
    return Object.keys(pools).filter((pool) => prefix !== undefined && pools[pool]?.prefix === prefix)
  }

  /** What is deleted must be one of many. */
  const isTarget =
    ({ method, name }: Operation) =>
    (pool: string) =>
      (method !== "DELETE" && !limitedPerResource.has(name)) || (pools[pool]?.size ?? 0) > 1

  const listPaths = (operation: Operation): ReadonlyArray<string> => {
    const { name, parameters, path } = operation
    const inPath = parameters.filter((parameter) => parameter.in === "path")
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter)
    const last = inPath.find((parameter) => parameter.name === names.at(-1))
    if (last === undefined) return [path]
    const paths = listPools(last)
      .filter(isTarget(operation))
      .map((pool) => {
        const chosen: Readonly<Record<string, string>> = { ...pools[pool]?.within, [last.name]: pool }
        return path.replace(/\{(\w+)\}/g, (_, parameter: string) => placeholder(chosen[parameter] ?? `no ${parameter}`))
      })
    if (paths.length === 0) throw new Error(`${name}: no seeded resource for ${last.name}`)
    return paths
  }

  const listBodies = (operation: Operation): ReadonlyArray<Candidate["body"]> => {
    if (operation.body === undefined) return [undefined]
    return operation.body.contentType === "application/json" ? makeBodyTemplates(operation) : [upload]
  }

  return (operation: Operation): ReadonlyArray<Candidate> => {
    const { body, hasCsv, method } = operation
    const types: Headers = body === undefined ? {} : { "content-type": body.contentType }
    const accepts: ReadonlyArray<Headers> = hasCsv ? [{}, { accept: "text/csv" }] : [{}]
    return listPaths(operation).flatMap((path) =>
      listQueries(operation).flatMap((query) => {
        // A placeholder keeps its braces until it is filled in.
        const search = new URLSearchParams(query).toString().replaceAll("%7B", "{").replaceAll("%7D", "}")
        return accepts
          .filter((accept) => accept["accept"] === undefined || query["limit"] === undefined)
          .flatMap((accept) =>
            makeHeaders(operation).flatMap((headers) =>
              listBodies(operation).map((body) => ({
                method,
                path: search === "" ? path : `${path}?${search}`,
                headers: { ...types, ...headers, ...accept },
                body
              }))
            )
          )
      })
    )
  }
}

/** Fills in placeholders: the number of the request, and identifiers of each pool in turn. */
export const makePrepare = (pools: Pools) => {
  const used = new Map<string, number>()
  let requests = 0
  const takeId = (name: string) => {
    const pool = pools[name]
    if (pool === undefined) throw new Error(`${name} is no seeded resource`)
    const n = used.get(name) ?? 0
    used.set(name, n + 1)
    return pool.getId(n)
  }
  return ({ body, headers, path, ...candidate }: Candidate): PreparedRequest => {
    const number = String(requests++)
    const fill = (text: string) =>
      text.replace(/\{\{([^{}]+)\}\}/g, (_, name: string) => (name === "n" ? number : takeId(name)))
    return {
      ...candidate,
      path: fill(path),
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, fill(value)])),
      body: typeof body === "string" ? fill(body) : body
    }
  }
}

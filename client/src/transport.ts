import { ApiError, ConnectionError, type ErrorDetail, type FailedResponse } from "./errors.ts"
import * as errors from "./generated/errors.ts"
import { List } from "./list.ts"
import { nextAttemptIn, retryAfterSecondsOf, wait } from "./retry.ts"

export interface ClientOptions {
  /** Where the service is, such as `https://contracting.example.com`. */
  readonly baseUrl: string
  /** The bearer token, or a function that gets the current one; it is called for every attempt. */
  readonly token: string | (() => string | Promise<string>)
  /** The tenant of all calls. Only `tenants` works without one. */
  readonly tenantId?: string | undefined
  /** Most attempts after the first, for a 429, a 503 or a lost connection. Default 4. */
  readonly maxRetries?: number
  /** Longest wait before an attempt. A `Retry-After` beyond it ends the call with the error. Default 60. */
  readonly maxRetryDelaySeconds?: number
  /** Used instead of the global `fetch`. */
  readonly fetch?: typeof fetch
}

export interface RequestOptions {
  readonly signal?: AbortSignal
  readonly headers?: Readonly<Record<string, string>>
  /** Sees the response of the call, with headers such as `etag` and `x-request-id`. Its body is read already. */
  readonly onResponse?: (response: Response) => void
}

export interface IdempotencyOption {
  /** Default is a new key for each call, which all attempts of the call send. */
  readonly idempotencyKey?: string
}

export interface MatchOption {
  /** An ETag: the call fails with `PreconditionFailed` when the resource has changed since. */
  readonly ifMatch?: string
}

type AnyOptions = RequestOptions & IdempotencyOption & MatchOption

/** Values of a query. One that is undefined is left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>

/** What `fetch` takes as a body. */
export type Bytes = NonNullable<RequestInit["body"]>

interface Call {
  readonly method: string
  readonly path: string
  readonly query?: Query
  readonly json?: object
  readonly bytes?: Bytes
  readonly options?: AnyOptions | undefined
}

/** Builds a path from a template, with its values encoded. */
export const path = (texts: TemplateStringsArray, ...values: ReadonlyArray<string>) =>
  texts.map((text, index) => text + encodeURIComponent(values[index] ?? "")).join("")

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const errorClasses: ReadonlyMap<string, typeof ApiError> = new Map(Object.entries(errors))

const toError = async (response: Response, method: string, url: string): Promise<ApiError> => {
  const body = parseJson(await response.text()) as
    | { readonly error?: string; readonly message?: string; readonly details?: ReadonlyArray<ErrorDetail> }
    | undefined // the service answers so; a proxy may answer anything
  const failed: FailedResponse = {
    method,
    url,
    status: response.status,
    message: body?.message ?? response.statusText,
    details: body?.details ?? [],
    requestId: response.headers.get("x-request-id") ?? undefined,
    retryAfterSeconds: retryAfterSecondsOf(response)
  }
  const Class = errorClasses.get(body?.error ?? "") ?? ApiError
  return new Class(failed)
}

/** Whether a second attempt does no harm when the first one did its work and only its response was lost. */
const isRepeatable = (method: string) => method === "GET" || method === "POST"

/** Sends the requests of all operations. */
export const makeTransport = (client: ClientOptions) => {
  const { maxRetries = 4, maxRetryDelaySeconds = 60, tenantId, token } = client
  const limits = { maxRetries, maxRetryDelaySeconds }
  const send = client.fetch ?? fetch

  const urlOf = ({ path, query = {} }: Call) => {
    const given = Object.entries(query).filter(([, value]) => value !== undefined)
    const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
    return `${client.baseUrl.replace(/\/+$/, "")}${path}${search === "" ? "" : `?${search}`}`
  }

  /** The headers that all attempts of a call share. */
  const headersOf = ({ bytes, json, method, options = {} }: Call) => ({
    accept: "application/json, */*;q=0.5",
    ...(tenantId === undefined ? {} : { "tenant-id": tenantId }),
    ...(json === undefined ? {} : { "content-type": "application/json" }),
    ...(bytes === undefined ? {} : { "content-type": "application/octet-stream" }),
    ...(method === "POST" ? { "idempotency-key": options.idempotencyKey ?? crypto.randomUUID() } : {}),
    ...(options.ifMatch === undefined ? {} : { "if-match": options.ifMatch }),
    ...options.headers
  })

  const attempt = async (call: Call, url: string, headers: Readonly<Record<string, string>>) => {
    const { bytes, json, method, options = {} } = call
    const bearer = typeof token === "string" ? token : await token()
    const body = json === undefined ? bytes : JSON.stringify(json)
    return send(url, {
      method,
      headers: { authorization: `Bearer ${bearer}`, ...headers },
      ...(body === undefined ? {} : { body }),
      ...(options.signal === undefined ? {} : { signal: options.signal })
    })
  }

  /** Attempts a call until it succeeds, fails for good, or has no attempts left. */
  const request = async (call: Call): Promise<Response> => {
    const { method, options: { signal } = {} } = call
    const url = urlOf(call)
    const headers = headersOf(call)
    for (let retry = 0; ; retry++) {
      const response = await attempt(call, url, headers).catch((cause: unknown): undefined => {
        if (signal?.aborted) throw cause
        if (!isRepeatable(method) || retry >= maxRetries) throw new ConnectionError(method, url, cause)
      })
      const delay = nextAttemptIn(response, retry, limits)
      if (delay !== undefined) {
        await response?.body?.cancel()
        await wait(delay, signal)
      } else if (response?.ok) return response
      else if (response !== undefined) throw await toError(response, method, url)
    }
  }

  const read = async <A>(call: Call, decode: (response: Response) => Promise<A>): Promise<A> => {
    const response = await request(call)
    const value = await decode(response)
    call.options?.onResponse?.(response)
    return value
  }

  /** The `data` of a response, in the type that the API's document states. */
  const dataOf = async <A>(response: Response) => ((await response.json()) as { readonly data: A }).data

  return {
    json: <A>(call: Call) => read<A>(call, dataOf),
    none: (call: Call) => read<void>(call, async (response) => void (await response.arrayBuffer())),
    text: (call: Call) => read(call, (response) => response.text()),
    bytes: (call: Call) => read(call, async (response) => new Uint8Array(await response.arrayBuffer())),

    list: <A>(call: Omit<Call, "method">) =>
      new List<A>(async (next) => {
        let link: string | null = null
        const onResponse = (response: Response) => {
          link = response.headers.get("link")
          call.options?.onResponse?.(response)
        }
        const query = next === undefined ? call.query : Object.fromEntries(new URLSearchParams(next))
        const page = { ...call, method: "GET", options: { ...call.options, onResponse } }
        const items = await read<ReadonlyArray<A>>(query === undefined ? page : { ...page, query }, dataOf)
        return { items, next: nextQueryIn(link) }
      })
  }
}

/** The query of the next page, from a `Link` header such as `</api/v1/clients?cursor=…>; rel="next"`. */
const nextQueryIn = (link: string | null) => /<[^>]*\?([^>]*)>;\s*rel="next"/.exec(link ?? "")?.[1]

export type Transport = ReturnType<typeof makeTransport>

import createClient from "openapi-fetch"
import type { components, paths } from "../generated/api.ts"
import type { ErrorDetail } from "./fieldErrors.ts"
import { refreshToken, tenantId, token } from "./session.ts"

export type Schemas = components["schemas"]

/** An error response, or a request that never reached the service (status 0). */
export class ApiFailure extends Error {
  readonly status: number
  readonly details: ReadonlyArray<ErrorDetail>
  constructor(status: number, message: string, details: ReadonlyArray<ErrorDetail> = []) {
    super(message)
    this.status = status
    this.details = details
  }
}

/** Whether the service has refused the request, and so has done nothing. Any other failure leaves that open. */
export const isRejection = (cause: unknown): cause is ApiFailure =>
  cause instanceof ApiFailure && cause.status >= 400 && cause.status < 500

/** What went wrong, in words, with everything that the service says about it. */
export const messageOf = (cause: unknown) => {
  if (!(cause instanceof Error)) return String(cause)
  const details = cause instanceof ApiFailure ? cause.details : []
  const sentences = [cause.message, ...details.map(({ field, message }) => `${field} ${message}`)]
  return sentences.filter((text) => text !== "").join(". ")
}

const maxAttempts = 4
const defaultRetrySeconds = 1
const maxRetrySeconds = 10

const pause = (seconds: number) => new Promise((resolve) => setTimeout(resolve, seconds * 1000))

/** The service is busy, and says when to try again. Reads and requests with a key are safe to repeat. */
const isBusy = ({ status }: Response) => status === 503 || status === 429

const withCredentials = (request: Request) => {
  const headers = new Headers(request.headers)
  if (token.value !== undefined) headers.set("authorization", `Bearer ${token.value}`)
  if (tenantId.value !== undefined) headers.set("tenant-id", tenantId.value)
  return new Request(request, { headers })
}

const renewToken = async () => {
  const renew = refreshToken.value
  if (renew === undefined) return false
  try {
    token.value = await renew()
    return true
  } catch {
    return false
  }
}

const send = async (request: Request): Promise<Response> => {
  let hasRenewed = false
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(withCredentials(request.clone()))
    if (response.status === 401 && !hasRenewed && (await renewToken())) {
      hasRenewed = true
      continue
    }
    if (response.status === 401) token.value = undefined
    if (!isBusy(response) || attempt === maxAttempts) return response
    const seconds = Number(response.headers.get("retry-after") ?? defaultRetrySeconds)
    await pause(Math.min(Number.isFinite(seconds) ? seconds : defaultRetrySeconds, maxRetrySeconds))
  }
}

export const api = createClient<paths>({ baseUrl: location.origin, fetch: send })

const isDetails = (value: unknown): value is ReadonlyArray<ErrorDetail> => Array.isArray(value)

const failureOf = (error: unknown, { status }: Response) => {
  const body = typeof error === "object" && error !== null ? error : {}
  const message = "message" in body ? String(body.message) : `The service answered ${status}`
  return new ApiFailure(status, message, "details" in body && isDetails(body.details) ? body.details : [])
}

interface Result<A> {
  readonly data?: { readonly data: A } | undefined
  readonly error?: unknown
  readonly response: Response
}

export interface Loaded<A> {
  readonly value: A
  readonly etag: string | undefined
  /** The query of the next page. */
  readonly cursor: string | undefined
  /** Whether the service has repeated the response to an earlier request with the same Idempotency-Key. */
  readonly isReplayed: boolean
}

/** The feed of events goes on after an event; all other lists have cursors. */
const cursorOf = (link: string | null) => {
  const url = link?.match(/<([^>]+)>; rel="next"/)?.[1]
  if (url === undefined) return undefined
  const { searchParams } = new URL(url, location.origin)
  return searchParams.get("cursor") ?? searchParams.get("after") ?? undefined
}

const reach = <A>(calling: Promise<A>) =>
  calling.catch((cause: unknown) => {
    throw new ApiFailure(0, `The service cannot be reached (${cause instanceof Error ? cause.message : cause})`)
  })

/** The `data` of a response with its version and its next page. Fails with an `ApiFailure`. */
export const load = async <A>(calling: Promise<Result<A>>): Promise<Loaded<A>> => {
  const { data, error, response } = await reach(calling)
  if (!response.ok || data === undefined) throw failureOf(error, response)
  return {
    value: data.data,
    etag: response.headers.get("etag") ?? undefined,
    cursor: cursorOf(response.headers.get("link")),
    isReplayed: response.headers.get("idempotent-replayed") === "true"
  }
}

/** The same without the version. */
export const read = async <A>(calling: Promise<Result<A>>) => (await load(calling)).value

/** For an operation without a response body. */
export const done = async (calling: Promise<{ readonly error?: unknown; readonly response: Response }>) => {
  const { error, response } = await reach(calling)
  if (!response.ok) throw failureOf(error, response)
}

const exchangeFile = async (path: string, init: RequestInit) => {
  const response = await send(new Request(new URL(path, location.origin), init))
  if (response.ok) return response.blob()
  throw failureOf(await response.json().catch(() => undefined), response)
}

/** A file of the API as a blob, such as a PDF. Lists and reports also come as CSV. */
export const readFile = (path: string, accept = "*/*") => exchangeFile(path, { headers: { accept } })

/** Sends the bytes of a file. */
export const sendFile = (path: string, file: Blob) =>
  exchangeFile(path, { method: "PUT", headers: { "content-type": "application/octet-stream" }, body: file })

/** Reads a list to its end. */
export const readAll = async <A>(
  page: (cursor: string | undefined) => Promise<Result<ReadonlyArray<A>>>
): Promise<ReadonlyArray<A>> => {
  const items: Array<A> = []
  let cursor: string | undefined
  do {
    const next = await load(page(cursor))
    items.push(...next.value)
    cursor = next.cursor
  } while (cursor !== undefined)
  return items
}

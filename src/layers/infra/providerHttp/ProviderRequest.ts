import { Data, Effect } from "effect"
import { Agent, type Dispatcher, request } from "undici"
import { toStorableText } from "../../../domain/StorableText.ts"
import { describeNetworkError } from "../webhook/NetworkErrors.ts"

/** Parses JSON and makes its strings storable in PostgreSQL. Returns undefined for anything but JSON. */
export const parseProviderJson = (text: string): unknown => {
  try {
    return JSON.parse(text, (_, value: unknown) => (typeof value === "string" ? toStorableText(value) : value))
  } catch {
    return undefined
  }
}

/** No complete response arrived. Whether the provider executed the request is unknown. */
export class NoResponse extends Data.TaggedError("NoResponse")<{ readonly message: string }> {}

export interface ProviderRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** Without one, the caller bounds the request by interrupting it. */
  readonly timeoutMs?: number
}

export interface ProviderResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  /** Undefined when the body is not JSON. */
  readonly json: unknown
}

const maxResponseBytes = 1024 * 1024
const agent = new Agent({ keepAliveTimeout: 2_000, keepAliveMaxTimeout: 4_000, connect: { timeout: 5_000 } })

const readText = async (body: Dispatcher.ResponseData["body"], host: string) => {
  const chunks: Array<Uint8Array> = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > maxResponseBytes) throw new NoResponse({ message: `${host} answered with a response that is too large` })
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/** Redacts a secret that the provider echoes: responses are stored, logged and shown to API users. */
export const redactSecret = (reply: ProviderResponse, secret: string): ProviderResponse => {
  if (!reply.text.includes(secret)) return reply
  const text = reply.text.replaceAll(secret, "[secret]")
  return { ...reply, text, json: parseProviderJson(text) }
}

/** Removes trailing slashes, so that callers can append a path. */
export const trimTrailingSlashes = (url: string) => url.replace(/\/+$/, "")

const firstValueOf = (value: string | ReadonlyArray<string> | undefined) =>
  typeof value === "string" ? value : (value?.[0] ?? "")

/**
 * Sends one request to a provider URL from the settings. Succeeds with any status and follows no redirects.
 */
export const sendProviderRequest = ({
  body,
  headers = {},
  method,
  timeoutMs,
  url
}: ProviderRequest): Effect.Effect<ProviderResponse, NoResponse> => {
  const host = new URL(url).hostname
  return Effect.tryPromise({
    try: async (interruption): Promise<ProviderResponse> => {
      const signal =
        timeoutMs === undefined ? interruption : AbortSignal.any([interruption, AbortSignal.timeout(timeoutMs)])
      const response = await request(url, { method, headers, body: body ?? null, signal, dispatcher: agent })
      const text = await readText(response.body, host)
      const responseHeaders = Object.entries(response.headers).map(([name, value]) => [name, firstValueOf(value)])
      return {
        status: response.statusCode,
        headers: Object.fromEntries(responseHeaders),
        text,
        json: parseProviderJson(text)
      }
    },
    catch: (cause) =>
      cause instanceof NoResponse ? cause : new NoResponse({ message: describeNetworkError(cause, host) })
  })
}

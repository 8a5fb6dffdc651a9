import { Data, Effect } from "effect"
import { Agent, type Dispatcher, request } from "undici"
import { troubleOf } from "../webhook/Trouble.ts"
import { readProviderJson } from "./ProviderJson.ts"

/** A request came to no whole answer. What became of it at the other end is not known. */
export class NoAnswer extends Data.TaggedError("NoAnswer")<{ readonly message: string }> {}

export interface Call {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  /** Undefined when the answer is not JSON. */
  readonly json: unknown
}

const mostRead = 1024 * 1024
const connections = new Agent({ keepAliveTimeout: 2_000, keepAliveMaxTimeout: 4_000, connect: { timeout: 5_000 } })

const readText = async (body: Dispatcher.ResponseData["body"], host: string) => {
  const pieces: Array<Uint8Array> = []
  let size = 0
  for await (const piece of body) {
    size += piece.length
    if (size > mostRead) throw new NoAnswer({ message: `${host} answered with more than anybody would read` })
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString()
}

/** An answer that repeats a secret it was asked with, without it: what providers say is kept, logged and told. */
export const withoutSecret = (reply: Reply, secret: string): Reply => {
  if (!reply.text.includes(secret)) return reply
  const text = reply.text.replaceAll(secret, "[secret]")
  return { ...reply, text, json: readProviderJson(text) }
}

/** An address that paths can be put behind. */
export const withoutSlash = (url: string) => url.replace(/\/+$/, "")

const firstOf = (value: string | ReadonlyArray<string> | undefined) =>
  typeof value === "string" ? value : (value?.[0] ?? "")

/**
 * One request to a provider whose address the settings name, and its answer whatever that is; redirects are not followed.
 * How long it may take is up to the caller, who ends it by interruption.
 */
export const call = ({ body, headers = {}, method, url }: Call): Effect.Effect<Reply, NoAnswer> => {
  const host = new URL(url).hostname
  return Effect.tryPromise({
    try: async (signal): Promise<Reply> => {
      const answer = await request(url, { method, headers, body: body ?? null, signal, dispatcher: connections })
      const text = await readText(answer.body, host)
      const told = Object.entries(answer.headers).map(([name, value]) => [name, firstOf(value)])
      return { status: answer.statusCode, headers: Object.fromEntries(told), text, json: readProviderJson(text) }
    },
    catch: (cause) => (cause instanceof NoAnswer ? cause : new NoAnswer({ message: troubleOf(cause, host) }))
  })
}

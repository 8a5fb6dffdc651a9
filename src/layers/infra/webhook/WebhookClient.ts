import { isIPv6 } from "node:net"
import { Context, Data, Effect, Runtime } from "effect"
import { Agent, buildConnector, type Dispatcher } from "undici"
import { SsrfGuard } from "./SsrfGuard.ts"

const maxReadBytes = 64 * 1024
const maxStoredBytes = 4 * 1024

/** The part of a receiver's response that has arrived so far. */
export class ResponseCapture {
  status: number | undefined
  retryAfter: string | undefined
  readonly #chunks: Array<Uint8Array> = []
  #size = 0

  start(status: number, retryAfter: string | ReadonlyArray<string> | undefined) {
    this.status = status
    this.retryAfter = typeof retryAfter === "string" ? retryAfter : retryAfter?.[0]
  }

  /** Appends a chunk. Returns false once the response exceeds the read limit. */
  append(chunk: Uint8Array) {
    if (this.#size < maxStoredBytes) this.#chunks.push(chunk)
    this.#size += chunk.length
    return this.#size <= maxReadBytes
  }

  /** The start of the body. PostgreSQL text cannot contain NUL; a character cut at the end is dropped. */
  get text() {
    const stored = Buffer.concat(this.#chunks).subarray(0, maxStoredBytes)
    return new TextDecoder().decode(stored, { stream: this.#size > maxStoredBytes }).replaceAll("\u0000", "")
  }
}

/** No complete response arrived. */
export class RequestFailed extends Data.TaggedError("RequestFailed")<{ readonly cause: unknown }> {}

const makeAbortError = () => new Error("The request was aborted")

/** Sends one request and captures its response as it arrives. Follows no redirects. */
export const dispatchRequest = (agent: Dispatcher, request: Dispatcher.DispatchOptions, response: ResponseCapture) =>
  Effect.async<void, RequestFailed>((resume) => {
    let activeController: Dispatcher.DispatchController | undefined
    let isDone = false
    const finish = (result: Effect.Effect<void, RequestFailed>) => {
      isDone = true
      resume(result)
    }

    agent.dispatch(request, {
      onRequestStart: (controller) => {
        activeController = controller
        if (isDone) controller.abort(makeAbortError())
      },
      onResponseStart: (_, status, headers) => {
        if (status >= 200) response.start(status, headers["retry-after"])
      },
      onResponseData: (controller, chunk) => {
        if (response.append(chunk)) return
        finish(Effect.void)
        controller.abort(makeAbortError())
      },
      onResponseEnd: () => finish(Effect.void),
      onResponseError: (_, cause) => finish(Effect.fail(new RequestFailed({ cause })))
    })

    return Effect.sync(() => {
      isDone = true
      activeController?.abort(makeAbortError())
    })
  })

/**
 * Open connections and concurrent requests per origin. It exceeds the limit of one integration, since several
 * integrations may share an origin.
 */
export const maxConnectionsPerOrigin = 96

const maxAddressesTried = 2
/** Per address: all attempts together stay below the timeout of a delivery. */
const connectTimeoutMs = 4_500

/**
 * Closes idle connections before most servers do, and limits reuse, so that changed DNS records take effect. undici's
 * own age limit, `clientTtl`, makes requests hang (nodejs/undici#5144).
 */
const reuseLimits = { keepAliveTimeout: 2_000, keepAliveMaxTimeout: 4_000, maxRequestsPerClient: 200 }

/** Root certificates that replace those of Node. */
export class TrustedRoots extends Context.Reference<TrustedRoots>()("layers/TrustedRoots", {
  defaultValue: (): ReadonlyArray<string> | undefined => undefined
}) {}

/** Picks one IPv4 and one IPv6 address where both exist: a network may route only one of them. */
export const selectAddresses = (addresses: ReadonlyArray<string>) => {
  const [first = ""] = addresses
  const otherFamily = addresses.find((address) => isIPv6(address) !== isIPv6(first))
  return otherFamily === undefined ? addresses.slice(0, maxAddressesTried) : [first, otherFamily]
}

const makeConnector = Effect.gen(function* () {
  const guard = yield* SsrfGuard
  const roots = yield* TrustedRoots
  const run = Runtime.runFork(yield* Effect.runtime<never>())
  const connectTo = buildConnector({ timeout: connectTimeoutMs, ...(roots === undefined ? {} : { ca: [...roots] }) })

  /** Connects to checked addresses, not to the name: a second DNS lookup could return others (DNS rebinding). */
  const connectToAny = (
    [address = "", ...others]: ReadonlyArray<string>,
    options: buildConnector.Options,
    callback: buildConnector.Callback
  ) =>
    connectTo({ ...options, hostname: address }, (error, socket) => {
      if (error !== null) return others.length === 0 ? callback(error, null) : connectToAny(others, options, callback)
      const checked = guard.checkAddresses(options, [socket.remoteAddress ?? ""])
      if (checked._tag === "Right") return callback(null, socket)
      socket.destroy()
      return callback(checked.left, null)
    })

  const connect: buildConnector.connector = (options, callback) => {
    run(
      Effect.match(guard.resolveAllowed(options), {
        onFailure: (rejection) => callback(rejection, null),
        onSuccess: (addresses) => connectToAny(selectAddresses(addresses), options, callback)
      })
    )
  }
  return connect
})

/** An undici agent that connects only to addresses the SSRF guard allows. It has no response timeouts: callers set them. */
export const makeWebhookAgent = Effect.flatMap(makeConnector, (connect) =>
  Effect.acquireRelease(
    Effect.sync(
      () =>
        new Agent({ connect, connections: maxConnectionsPerOrigin, headersTimeout: 0, bodyTimeout: 0, ...reuseLimits })
    ),
    (agent) => Effect.promise(() => agent.destroy())
  )
)

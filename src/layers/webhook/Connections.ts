import { isIPv6 } from "node:net"
import { Context, Effect, Runtime } from "effect"
import { Agent, buildConnector } from "undici"
import { Targets } from "./Target.ts"

/**
 * At most so many connections are open to one origin, and as many requests on their way: more than go to one integration,
 * since many may have the same.
 */
export const mostConnections = 96

/** A name's addresses that are tried, together for less time than a delivery may take. */
const mostTried = 2
const patience = 4_500

/**
 * Soon closed when unused, sooner than most servers do, and not used for ever when a name may lead elsewhere by now. The
 * package's own limit of age, clientTtl, makes requests hang (nodejs/undici#5144).
 */
const lifetime = { keepAliveTimeout: 2_000, keepAliveMaxTimeout: 4_000, maxRequestsPerClient: 200 }

/** Certificates to trust instead of those that come with Node. */
export class Roots extends Context.Reference<Roots>()("layers/webhook/Roots", {
  defaultValue: (): ReadonlyArray<string> | undefined => undefined
}) {}

/** Of two kinds of addresses, one each: a network may know the way to only one kind. */
const worthTrying = (addresses: ReadonlyArray<string>) => {
  const [first = ""] = addresses
  const unlike = addresses.find((address) => isIPv6(address) !== isIPv6(first))
  return unlike === undefined ? addresses.slice(0, mostTried) : [first, unlike]
}

const makeConnector = Effect.gen(function* () {
  const targets = yield* Targets
  const roots = yield* Roots
  const run = Runtime.runFork(yield* Effect.runtime<never>())
  const dial = buildConnector({ timeout: patience, ...(roots === undefined ? {} : { ca: [...roots] }) })

  /** Dials addresses rather than the name, so that nothing else can be found for it after the check. */
  const dialAny = (
    [address = "", ...others]: ReadonlyArray<string>,
    options: buildConnector.Options,
    callback: buildConnector.Callback
  ) =>
    dial({ ...options, hostname: address }, (error, socket) => {
      if (error !== null) return others.length === 0 ? callback(error, null) : dialAny(others, options, callback)
      const vouched = targets.vouch(options, [socket.remoteAddress ?? ""])
      if (vouched._tag === "Right") return callback(null, socket)
      socket.destroy()
      return callback(vouched.left, null)
    })

  const connect: buildConnector.connector = (options, callback) => {
    run(
      Effect.match(targets.locate(options), {
        onFailure: (refused) => callback(refused, null),
        onSuccess: (addresses) => dialAny(worthTrying(addresses), options, callback)
      })
    )
  }
  return connect
})

/** Connections that lead only where webhooks may go. How long anything may take is up to whoever uses them. */
export const makeConnections = Effect.flatMap(makeConnector, (connect) =>
  Effect.acquireRelease(
    Effect.sync(
      () => new Agent({ connect, connections: mostConnections, headersTimeout: 0, bodyTimeout: 0, ...lifetime })
    ),
    (agent) => Effect.promise(() => agent.destroy())
  )
)

import { Effect, Schedule } from "effect"
import { type ConnectionOptions, connect, type JetStreamManager, type NatsConnection } from "nats"
import { Settings } from "../config/Settings.ts"
import { BrokerError } from "./BrokerError.ts"
import { spaced } from "./Spaced.ts"
import { names } from "./Subjects.ts"

export const asking = <A>(ask: () => Promise<A>) =>
  Effect.tryPromise({ try: ask, catch: (cause) => new BrokerError({ cause }) })

/** How long anybody waits for an answer of the broker. */
export const patience = 5_000

/** What is tossed within so long is sent at once: each trip to the socket costs more than what it carries. */
const gatherMillis = 5

/** Whoever is woken takes all there is: being told of each event would cost the server more than taking it. */
const wakePauseMillis = 10

/** The client takes no notice of a name and password that are part of the address, nor of its protocol. */
const optionsOf = (address: string, caFile: string | undefined): ConnectionOptions => {
  const url = new URL(address)
  const [user, pass] = [decodeURIComponent(url.username), decodeURIComponent(url.password)]
  url.username = ""
  url.password = ""
  const isEncrypted = url.protocol === "tls:" || caFile !== undefined
  // The client checks the certificate of a server without a name against localhost unless it is told the address.
  const tls = { host: url.hostname, ...(caFile === undefined ? {} : { caFile }) }
  return {
    servers: url.href,
    ...(user === "" ? {} : { user, pass }),
    ...(isEncrypted ? { tls } : {})
  }
}

const open = (address: string, caFile: string | undefined) =>
  Effect.tryPromise({
    try: async (signal) => {
      const opened = await connect({
        ...optionsOf(address, caFile),
        name: "contracting",
        maxReconnectAttempts: -1,
        reconnectTimeWait: 500,
        // A server that is told of its users too late refuses us for a while.
        ignoreAuthErrorAbort: true,
        pingInterval: 20_000
      })
      if (signal.aborted) await opened.close()
      return opened
    },
    catch: (cause) => new BrokerError({ cause })
  })

/**
 * The connection to NATS. It is looked for in the background and for ever, so that nobody who does not need the broker
 * waits for it, and whoever needs it learns at once that it is away.
 */
export class Broker extends Effect.Service<Broker>()("layers/Broker", {
  scoped: Effect.gen(function* () {
    const { NATS_CA_FILE, NATS_NAMESPACE, NATS_URL } = yield* Settings
    const named = names(NATS_NAMESPACE)
    let current: NatsConnection | undefined
    let reachable = false
    let session = 0

    const reached = () => {
      reachable = true
      session += 1
    }

    /** Until it is closed for good. */
    const watch = async (opened: NatsConnection) => {
      for await (const { type } of opened.status()) {
        if (type === "reconnect") reached()
        if (type === "disconnect") reachable = false
      }
    }

    const follow = (opened: NatsConnection) =>
      Effect.promise(async () => {
        current = opened
        reached()
        await watch(opened)
        reachable = false
      })

    if (NATS_URL !== undefined) {
      yield* Effect.addFinalizer(() => Effect.promise(async () => current?.close()))
      yield* open(NATS_URL, NATS_CA_FILE).pipe(
        Effect.retry(Schedule.exponential("200 millis").pipe(Schedule.union(Schedule.spaced("5 seconds")))),
        Effect.flatMap(follow),
        Effect.forever,
        Effect.forkScoped
      )
    }

    const publish = (subject: string, text?: string) => {
      if (current !== undefined && reachable && !current.isClosed()) current.publish(subject, text)
    }

    let tossed: Array<{ readonly subject: string; readonly text: string }> = []
    const sendTossed = () => {
      for (const { subject, text } of tossed) publish(subject, text)
      tossed = []
    }

    const connection = Effect.suspend(() => {
      if (NATS_URL === undefined) return Effect.fail(new BrokerError({ cause: "No message broker is configured" }))
      if (current === undefined || !reachable)
        return Effect.fail(new BrokerError({ cause: "The message broker is away" }))
      return Effect.succeed(current)
    })

    return {
      names: named,

      /** Fails at once while there is none. */
      connection,

      /** Tells whoever passes events on that there are new ones. It may get lost: they look for themselves as well. */
      wake: Effect.sync(spaced(wakePauseMillis, () => publish(named.wake))),

      /** Sends without waiting to hear that it was taken. It may get lost: who sends keeps what it is about elsewhere. */
      toss: (subject: string, text: string) =>
        Effect.sync(() => {
          if (tossed.length === 0) setTimeout(sendTossed, gatherMillis)
          tossed.push({ subject, text })
        }),

      jetstream: Effect.map(connection, (current) => current.jetstream({ timeout: patience })),

      manager: Effect.flatMap(connection, (current) =>
        asking((): Promise<JetStreamManager> => current.jetstreamManager({ timeout: patience, checkAPI: false }))
      ),

      /** Another number after every time the broker was away: what it kept before may be gone. */
      session: Effect.sync(() => session),

      /** What an operator wants to know at a glance. */
      state: Effect.sync(() => {
        if (NATS_URL === undefined) return "not configured"
        return reachable ? "connected" : "away"
      })
    }
  })
}) {}

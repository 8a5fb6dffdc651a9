import { Data, Effect, Schedule } from "effect"
import { type ConnectionOptions, connect, ErrorCode, type JetStreamManager, type NatsConnection, NatsError } from "nats"
import { Settings } from "../config/Settings.ts"
import { makeNatsNames } from "./NatsNames.ts"

/** Throttles `act`: the first call runs at once, calls during the interval run once at its end. */
export const throttle = (intervalMs: number, act: () => void) => {
  let isThrottled = false
  let isPending = false
  const run = () => {
    isPending = false
    isThrottled = true
    setTimeout(endInterval, intervalMs).unref()
    act()
  }
  const endInterval = () => {
    isThrottled = false
    if (isPending) run()
  }
  return () => {
    if (isThrottled) isPending = true
    else run()
  }
}

/** The JetStream error codes that callers handle. */
export const jetStreamErrorCodes = {
  consumerNotFound: 10014,
  streamNameInUse: 10058,
  streamNotFound: 10059,
  consumerExists: 10148
} as const

const messages: Readonly<Record<string, string>> = {
  [ErrorCode.Timeout]: "The message broker did not answer in time",
  [ErrorCode.NoResponders]: "The message broker has no stream for the message",
  [ErrorCode.MaxPayloadExceeded]: "The message is larger than the message broker accepts"
}

const describeCause = (cause: unknown) => {
  if (cause instanceof NatsError)
    return cause.api_error?.description ?? messages[cause.code] ?? `The message broker failed: ${cause.message}`
  return cause instanceof Error ? cause.message : String(cause)
}

export class BrokerError extends Data.TaggedError("BrokerError")<{ readonly cause: unknown }> {
  override get message() {
    return describeCause(this.cause)
  }

  /** JetStream reports a missing stream by code; a publish to a missing stream gets "no responders". */
  get isStreamMissing() {
    return (
      this.hasCode("streamNotFound") || (this.cause instanceof NatsError && this.cause.code === ErrorCode.NoResponders)
    )
  }

  hasCode(name: keyof typeof jetStreamErrorCodes) {
    return this.cause instanceof NatsError && this.cause.api_error?.err_code === jetStreamErrorCodes[name]
  }
}

/** Runs a NATS call and maps its failure to a `BrokerError`. */
export const callBroker = <A>(request: () => Promise<A>) =>
  Effect.tryPromise({ try: request, catch: (cause) => new BrokerError({ cause }) })

/** Timeout of a request to the broker, in milliseconds. */
export const brokerTimeoutMs = 5_000

/** Unconfirmed messages are buffered this long and written together: a socket write costs more than its content. */
const flushDelayMs = 5

/** Minimum interval between wake signals: one signal makes the relay drain the whole outbox. */
const wakeIntervalMs = 10

/** The NATS client ignores user, password and protocol in the URL, so we pass them as options. */
const connectionOptionsOf = (serverUrl: string, caFile: string | undefined): ConnectionOptions => {
  const url = new URL(serverUrl)
  const [user, pass] = [decodeURIComponent(url.username), decodeURIComponent(url.password)]
  url.username = ""
  url.password = ""
  const usesTls = url.protocol === "tls:" || caFile !== undefined
  // Without `host` the client verifies the certificate of an IP address against localhost.
  const tls = { host: url.hostname, ...(caFile === undefined ? {} : { caFile }) }
  return {
    servers: url.href,
    ...(user === "" ? {} : { user, pass }),
    ...(usesTls ? { tls } : {})
  }
}

const openConnection = (serverUrl: string, caFile: string | undefined) =>
  Effect.tryPromise({
    try: async (signal) => {
      const opened = await connect({
        ...connectionOptionsOf(serverUrl, caFile),
        name: "contracting",
        maxReconnectAttempts: -1,
        reconnectTimeWait: 500,
        // A starting server may reject us until its users are loaded.
        ignoreAuthErrorAbort: true,
        pingInterval: 20_000
      })
      if (signal.aborted) await opened.close()
      return opened
    },
    catch: (cause) => new BrokerError({ cause })
  })

/**
 * The connection to NATS. It connects and reconnects in the background: startup does not wait for the broker, and
 * callers fail at once while the broker is unreachable.
 */
export class Broker extends Effect.Service<Broker>()("layers/Broker", {
  scoped: Effect.gen(function* () {
    const { NATS_CA_FILE, NATS_NAMESPACE, NATS_URL } = yield* Settings
    const brokerNames = makeNatsNames(NATS_NAMESPACE)
    let current: NatsConnection | undefined
    let isConnected = false
    let epoch = 0

    const markConnected = () => {
      isConnected = true
      epoch += 1
    }

    /** Tracks the status until the connection is closed for good. */
    const watchStatus = async (opened: NatsConnection) => {
      for await (const { type } of opened.status()) {
        if (type === "reconnect") markConnected()
        if (type === "disconnect") isConnected = false
      }
    }

    const follow = (opened: NatsConnection) =>
      Effect.promise(async () => {
        current = opened
        markConnected()
        await watchStatus(opened)
        isConnected = false
      })

    if (NATS_URL !== undefined) {
      yield* Effect.addFinalizer(() => Effect.promise(async () => current?.close()))
      yield* openConnection(NATS_URL, NATS_CA_FILE).pipe(
        Effect.retry(Schedule.exponential("200 millis").pipe(Schedule.union(Schedule.spaced("5 seconds")))),
        Effect.flatMap(follow),
        Effect.forever,
        Effect.forkScoped
      )
    }

    const publish = (subject: string, text?: string) => {
      if (current !== undefined && isConnected && !current.isClosed()) current.publish(subject, text)
    }

    let buffered: Array<{ readonly subject: string; readonly text: string }> = []
    const flushBuffered = () => {
      for (const { subject, text } of buffered) publish(subject, text)
      buffered = []
    }

    const connection = Effect.suspend(() => {
      if (NATS_URL === undefined) return Effect.fail(new BrokerError({ cause: "No message broker is configured" }))
      if (current === undefined || !isConnected)
        return Effect.fail(new BrokerError({ cause: "The message broker is not available" }))
      return Effect.succeed(current)
    })

    return {
      names: brokerNames,

      /** Fails at once while the broker is unreachable. */
      connection,

      /** Wakes the relay after new events. The signal may get lost: the relay also polls. */
      wake: Effect.sync(throttle(wakeIntervalMs, () => publish(brokerNames.wake))),

      /** Publishes at most once, without acknowledgement. The content must be stored elsewhere. */
      publishUnconfirmed: (subject: string, text: string) =>
        Effect.sync(() => {
          if (buffered.length === 0) setTimeout(flushBuffered, flushDelayMs)
          buffered.push({ subject, text })
        }),

      jetstream: Effect.map(connection, (connected) => connected.jetstream({ timeout: brokerTimeoutMs })),

      jetstreamManager: Effect.flatMap(connection, (connected) =>
        callBroker(
          (): Promise<JetStreamManager> => connected.jetstreamManager({ timeout: brokerTimeoutMs, checkAPI: false })
        )
      ),

      /** Increases with each connect and reconnect: streams and consumers from before may be gone. */
      connectionEpoch: Effect.sync(() => epoch),

      /** The connection state in the health endpoint. */
      state: Effect.sync(() => {
        if (NATS_URL === undefined) return "not configured"
        return isConnected ? "connected" : "away"
      })
    }
  })
}) {}

import { Effect, Runtime, Schedule } from "effect"
import type { JetStreamManager, NatsConnection } from "nats"
import { Settings } from "../config/Settings.ts"
import { ConnectionMetrics } from "../telemetry/ConnectionMetrics.ts"
import { makeOutageLog } from "../telemetry/OutageLog.ts"
import { BrokerError, callBroker } from "./BrokerError.ts"
import { connectionFailureOf, openConnection, tryConnection } from "./NatsConnection.ts"
import { makeNatsNames } from "./NatsNames.ts"
import { isOutdated, minServerVersion } from "./ServerVersion.ts"

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

/** Timeout of a request to the broker, in milliseconds. */
export const brokerTimeoutMs = 2_000

/** Unconfirmed messages are buffered this long and written together: a socket write costs more than its content. */
const flushDelayMs = 5

/** Minimum interval between wake signals: one signal makes the relay drain the whole outbox. */
const wakeIntervalMs = 10

/**
 * The connection to NATS. It connects and reconnects in the background: startup does not wait for the broker, and
 * callers fail at once while the broker is unreachable.
 */
export class Broker extends Effect.Service<Broker>()("layers/Broker", {
  dependencies: [ConnectionMetrics.Default],
  scoped: Effect.gen(function* () {
    const settings = yield* Settings
    const { NATS_NAMESPACE, NATS_URL } = settings
    const metrics = yield* ConnectionMetrics
    const brokerNames = makeNatsNames(NATS_NAMESPACE)
    const run = Runtime.runSync(yield* Effect.runtime())
    let current: NatsConnection | undefined
    let isConnected = false
    let epoch = 0
    const outage = makeOutageLog("NATS is not available; reconnecting", "Connected to NATS")

    const setConnected = (connected: boolean) => {
      isConnected = connected
      if (connected) epoch += 1
      metrics.setNatsConnected(connected)
    }

    const onConnect = Effect.suspend(() => {
      setConnected(true)
      return outage.onSuccess
    })

    const warnOfVersion = (opened: NatsConnection) =>
      Effect.suspend(() => {
        const { cluster, version = "" } = opened.info ?? {}
        if (cluster === undefined || !isOutdated(version)) return Effect.void
        return Effect.logWarning(
          `NATS ${version} can lose messages when a server of its cluster freezes; install ${minServerVersion} or newer`
        )
      })

    const onDisconnect = Effect.suspend(() => {
      setConnected(false)
      return outage.onFailure(new BrokerError({ cause: "The connection was lost" }))
    })

    const onFailure = (error: BrokerError) =>
      Effect.suspend(() => {
        metrics.countFailure("nats", connectionFailureOf(error))
        return outage.onFailure(error)
      })

    /** Follows the connection until it is closed for good. No stream: its end would wait for the next status. */
    const follow = (opened: NatsConnection) =>
      Effect.promise(async () => {
        current = opened
        run(Effect.zipRight(onConnect, warnOfVersion(opened)))
        for await (const { type } of opened.status()) {
          if (type === "reconnect") run(onConnect)
          if (type === "disconnect") run(onDisconnect)
        }
        setConnected(false)
      })

    /** The client reconnects by itself, and does not say why it cannot. */
    const explainOutage = Effect.suspend(() =>
      current === undefined || isConnected ? Effect.void : Effect.catchAll(tryConnection(settings), onFailure)
    )

    setConnected(false)
    if (NATS_URL !== undefined) {
      yield* Effect.addFinalizer(() => Effect.promise(async () => current?.close()))
      yield* openConnection(settings).pipe(
        Effect.tapError(onFailure),
        Effect.retry(Schedule.exponential("200 millis").pipe(Schedule.union(Schedule.spaced("5 seconds")))),
        Effect.flatMap(follow),
        Effect.forever,
        Effect.forkScoped
      )
      yield* Effect.forkScoped(Effect.schedule(explainOutage, Schedule.spaced("2 seconds")))
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
      wake: throttle(wakeIntervalMs, () => publish(brokerNames.wake)),

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

import { Data, Effect, Schedule } from "effect"
import { connect, type NatsConnection } from "nats"
import { Settings } from "../config/Settings.ts"

export class BrokerError extends Data.TaggedError("BrokerError")<{ readonly cause: unknown }> {}

const open = (servers: string) =>
  Effect.tryPromise({
    try: () => connect({ servers, name: "contracting", maxReconnectAttempts: -1, reconnectTimeWait: 500 }),
    catch: (cause) => new BrokerError({ cause })
  })

/**
 * The connection to NATS. It is looked for in the background and for ever, so that nobody who does not need the broker
 * waits for it.
 */
export class Broker extends Effect.Service<Broker>()("layers/Broker", {
  scoped: Effect.gen(function* () {
    const { NATS_URL } = yield* Settings
    let current: NatsConnection | undefined
    let reachable = false

    const follow = (opened: NatsConnection) =>
      Effect.promise(async () => {
        current = opened
        reachable = true
        for await (const { type } of opened.status()) {
          if (type === "reconnect") reachable = true
          if (type === "disconnect") reachable = false
        }
      })

    if (NATS_URL !== undefined) {
      yield* open(NATS_URL).pipe(
        Effect.retry(Schedule.exponential("200 millis").pipe(Schedule.union(Schedule.spaced("5 seconds")))),
        Effect.flatMap(follow),
        Effect.forkScoped
      )
      yield* Effect.addFinalizer(() => Effect.promise(async () => current?.close()))
    }

    return {
      /** What an operator wants to know at a glance. */
      state: Effect.sync(() => {
        if (NATS_URL === undefined) return "not configured"
        return reachable ? "connected" : "away"
      })
    }
  })
}) {}

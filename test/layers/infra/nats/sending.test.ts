import { rmSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Exit, Fiber, Scope, TestClock, TestContext } from "effect"
import { Broker } from "../../../../src/layers/infra/nats/Broker.ts"
import { type NatsMessage, NatsSender, natsAttemptTimeout } from "../../../../src/layers/infra/nats/NatsSender.ts"
import { findClosedPort, startProxy } from "../../../support/servers/proxy.ts"
import { pollSchedule, temporaryFolder } from "../../../tools/local/temporary.ts"
import {
  accountOf,
  connectAsConsumer,
  connectAsService,
  makeSender,
  pullMessages,
  startServerFor,
  startServerIn
} from "./consumerBroker.ts"

const [tenant, integration, other] = ["tnt_1", "int_a", "int_b"] as const

const event = (id: string, more: Partial<NatsMessage> = {}): NatsMessage => ({
  tenant,
  integration,
  type: "invoice.finalized",
  id,
  body: `{"id":"${id}"}`,
  ...more
})

const send = (message: NatsMessage) => Effect.flatMap(NatsSender, (sender) => sender.send(message))

const awaitState = (expected: "connected" | "away") =>
  Effect.flatMap(Broker, ({ state }) => state).pipe(
    Effect.repeat({ until: (state) => state === expected, schedule: pollSchedule })
  )

const awaitConnected = awaitState("connected")
const awaitAway = awaitState("away")

const assertDelivered = (message: NatsMessage) =>
  Effect.map(send(message), ({ delivered, error }) => assert.deepStrictEqual([delivered, error], [true, undefined]))

const bodies = (messages: ReadonlyArray<{ readonly body: string }>) => messages.map(({ body }) => body)

describe("NatsSender", () => {
  it.scopedLive("rejects messages that a full stream cannot store, and loses none that it has stored", () =>
    Effect.gen(function* () {
      const { url } = yield* startServerFor(integration)
      const withSender = yield* makeSender(url, { NATS_STREAM_MAX_BYTES: String(1024 ** 2) })
      const large = (n: number) => event(`evt_${n}`, { body: "x".repeat(300_000) })
      const results = yield* Effect.zipRight(
        awaitConnected,
        Effect.forEach([1, 2, 3, 4, 5], (n) => send(large(n)))
      ).pipe(withSender)
      assert.deepStrictEqual(
        results.map(({ delivered }) => delivered),
        [true, true, true, false, false]
      )
      assert.match(results[3]?.error ?? "", /maximum bytes/)
      const messages = yield* pullMessages(yield* connectAsConsumer(url, integration), integration, 3)
      assert.lengthOf(messages, 3)
    })
  )

  it.scopedLive(
    "reconcile keeps a consumer that is created while the integrations are read, and deletes orphaned consumers",
    () =>
      Effect.gen(function* () {
        const { url } = yield* startServerFor(integration, other)
        const withSender = yield* makeSender(url)
        yield* Effect.gen(function* () {
          yield* awaitConnected
          const { reconcile } = yield* NatsSender
          yield* assertDelivered(event("evt_1"))
          yield* reconcile(
            Effect.as(assertDelivered(event("evt_2", { integration: other })), [{ tenant, id: integration }])
          )
        }).pipe(withSender)
        assert.lengthOf(yield* pullMessages(yield* connectAsConsumer(url, other), other, 1), 1)
        yield* Effect.flatMap(NatsSender, ({ reconcile }) => reconcile(Effect.succeed([{ tenant, id: other }]))).pipe(
          withSender
        )
        const orphan = yield* Effect.flip(pullMessages(yield* connectAsConsumer(url, integration), integration, 1))
        assert.include(String(orphan.cause), "consumer not found")
      })
  )

  it.scopedLive("delivers to a consumer exactly the messages of its integration, in order", () =>
    Effect.gen(function* () {
      const { url } = yield* startServerFor(integration, other)
      const withSender = yield* makeSender(url)
      const ids = Array.from({ length: 10 }, (_, index) => `evt_${index}`)
      yield* Effect.gen(function* () {
        yield* awaitConnected
        for (const id of ids) {
          yield* assertDelivered(
            event(id, { type: Number(id.slice(4)) % 2 === 0 ? "client.created" : "client.updated" })
          )
          yield* assertDelivered(event(id, { integration: other, body: "for the other integration" }))
        }
      }).pipe(withSender)
      const messages = yield* pullMessages(yield* connectAsConsumer(url, integration), integration, ids.length)
      assert.deepStrictEqual(
        messages,
        ids.map((id, index) => ({
          subject: `contracting.integrations.tnt_1.int_a.client.${index % 2 === 0 ? "created" : "updated"}`,
          id,
          type: "application/json",
          body: `{"id":"${id}"}`
        }))
      )
    })
  )

  it.scopedLive("stores a retried message once and a redelivered message again", () =>
    Effect.gen(function* () {
      const { url } = yield* startServerFor(integration)
      const withSender = yield* makeSender(url)
      yield* Effect.gen(function* () {
        yield* awaitConnected
        yield* Effect.forEach([0, 0, 1, 1, 2], (redeliveryRound) =>
          assertDelivered(event("evt_1", { redeliveryRound, body: `round ${redeliveryRound}` }))
        )
      }).pipe(withSender)
      const messages = yield* pullMessages(yield* connectAsConsumer(url, integration), integration, 3)
      assert.deepStrictEqual(bodies(messages), ["round 0", "round 1", "round 2"])
    })
  )

  it.scopedLive("removeConsumer deletes the consumer and its pending messages", () =>
    Effect.gen(function* () {
      const { url } = yield* startServerFor(integration, other)
      const withSender = yield* makeSender(url)
      yield* Effect.gen(function* () {
        yield* awaitConnected
        const sender = yield* NatsSender
        yield* sender.removeConsumer(tenant, integration)
        yield* Effect.forEach([integration, other], (integration) => assertDelivered(event("evt_1", { integration })))
        yield* sender.removeConsumer(tenant, integration)
        yield* sender.removeConsumer(tenant, integration)
      }).pipe(withSender)
      const failure = yield* Effect.flip(pullMessages(yield* connectAsConsumer(url, integration), integration, 1))
      assert.include(String(failure.cause), "consumer not found")
      assert.lengthOf(yield* pullMessages(yield* connectAsConsumer(url, other), other, 1), 1)
      yield* withSender(assertDelivered(event("evt_2")))
      assert.deepStrictEqual(bodies(yield* pullMessages(yield* connectAsConsumer(url, integration), integration, 1)), [
        '{"id":"evt_2"}'
      ])
    })
  )

  it.scopedLive("reports a message that is too large for the broker", () =>
    Effect.gen(function* () {
      const { url } = yield* startServerFor(integration)
      const withSender = yield* makeSender(url)
      const result = yield* withSender(
        Effect.zipRight(awaitConnected, send(event("evt_1", { body: "x".repeat(2_000_000) })))
      )
      assert.deepInclude(result, {
        delivered: false,
        error: "The message is larger than the message broker accepts"
      })
      yield* withSender(assertDelivered(event("evt_2")))
    })
  )
})

describe("NatsSender without a reachable broker", () => {
  it.scopedLive("fails without a timeout if the broker was never reachable or is not configured", () =>
    Effect.gen(function* () {
      const withUnreachable = yield* makeSender(`nats://127.0.0.1:${yield* Effect.promise(findClosedPort)}`)
      const withoutBroker = yield* makeSender(undefined)
      const results = yield* Effect.all([withUnreachable(send(event("evt_1"))), withoutBroker(send(event("evt_1")))])
      assert.deepStrictEqual(
        results.map(({ delivered, error }) => [delivered, error]),
        [
          [false, "The message broker is not available"],
          [false, "No message broker is configured"]
        ]
      )
    })
  )

  it.scopedLive("fails without a timeout while disconnected, and delivers after a reconnect", () =>
    Effect.gen(function* () {
      const { url } = yield* startServerFor(integration)
      const proxy = yield* Effect.acquireRelease(
        Effect.promise(() => startProxy(url)),
        (proxy) => Effect.promise(() => proxy.stop())
      )
      const withSender = yield* makeSender(proxy.url)
      yield* withSender(Effect.zipRight(awaitConnected, assertDelivered(event("evt_1"))))
      yield* Effect.promise(() => proxy.disconnect())
      yield* withSender(awaitAway)
      const { delivered, error } = yield* withSender(send(event("evt_2")))
      assert.deepStrictEqual([delivered, error], [false, "The message broker is not available"])
      yield* Effect.promise(() => proxy.restore())
      yield* withSender(Effect.zipRight(awaitConnected, assertDelivered(event("evt_2"))))
      const messages = yield* pullMessages(yield* connectAsConsumer(url, integration), integration, 2)
      assert.deepStrictEqual(bodies(messages), ['{"id":"evt_1"}', '{"id":"evt_2"}'])
    })
  )

  it.scopedLive("times out if the broker does not answer, and the retried message is stored once", () =>
    Effect.gen(function* () {
      const { url } = yield* startServerFor(integration)
      const proxy = yield* Effect.acquireRelease(
        Effect.promise(() => startProxy(url)),
        (proxy) => Effect.promise(() => proxy.stop())
      )
      const withSender = yield* makeSender(proxy.url)
      yield* withSender(Effect.zipRight(awaitConnected, assertDelivered(event("evt_1"))))
      proxy.stall()
      const timedOut = yield* Effect.gen(function* () {
        const attempt = yield* Effect.fork(send(event("evt_2")))
        yield* TestClock.adjust(natsAttemptTimeout)
        return yield* Fiber.join(attempt)
      }).pipe(withSender, Effect.provide(TestContext.TestContext))
      assert.deepStrictEqual(timedOut, {
        delivered: false,
        latencyMs: Duration.toMillis(natsAttemptTimeout),
        error: "The message broker did not answer in time"
      })
      proxy.resume()
      yield* withSender(
        send(event("evt_2")).pipe(Effect.repeat({ until: ({ delivered }) => delivered, schedule: pollSchedule }))
      )
      const messages = yield* pullMessages(yield* connectAsConsumer(url, integration), integration, 2)
      assert.deepStrictEqual(bodies(messages), ['{"id":"evt_1"}', '{"id":"evt_2"}'])
    })
  )
})

describe("NatsSender after the broker lost its data", () => {
  it.scopedLive("creates stream and consumer with the next message after a restart with an empty store", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const firstRun = yield* Scope.make()
      const start = startServerIn(folder, [accountOf(integration)])
      const { url } = yield* Scope.extend(start, firstRun)
      const withSender = yield* makeSender(url)
      yield* withSender(Effect.zipRight(awaitConnected, assertDelivered(event("evt_1"))))
      yield* Scope.close(firstRun, Exit.void)
      yield* withSender(awaitAway)
      rmSync(join(folder, "nats", "jetstream"), { recursive: true })
      assert.strictEqual((yield* start).url, url)
      yield* withSender(Effect.zipRight(awaitConnected, assertDelivered(event("evt_2"))))
      yield* withSender(assertDelivered(event("evt_1", { redeliveryRound: 1 })))
      const messages = yield* pullMessages(yield* connectAsConsumer(url, integration), integration, 2)
      assert.deepStrictEqual(bodies(messages), ['{"id":"evt_2"}', '{"id":"evt_1"}'])
    })
  )

  it.scopedLive("creates stream and consumer with the next message after the stream was deleted", () =>
    Effect.gen(function* () {
      const { url } = yield* startServerFor(integration)
      const withSender = yield* makeSender(url)
      yield* withSender(Effect.zipRight(awaitConnected, assertDelivered(event("evt_1"))))
      const service = yield* connectAsService(url)
      yield* Effect.promise(async () => (await service.jetstreamManager()).streams.delete("contracting-integrations"))
      yield* withSender(assertDelivered(event("evt_2")))
      const messages = yield* pullMessages(yield* connectAsConsumer(url, integration), integration, 1)
      assert.deepStrictEqual(bodies(messages), ['{"id":"evt_2"}'])
    })
  )
})

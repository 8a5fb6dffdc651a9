import { rmSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { Broker } from "../../../src/layers/nats/Broker.ts"
import { type NatsMessage, NatsSender } from "../../../src/layers/nats/NatsSender.ts"
import { findClosedPort, startProxy } from "../../support/servers/proxy.ts"
import { patiently, temporaryFolder } from "../local/temporary.ts"
import { accountOf, asConsumer, asService, pulled, senderAt, startForConsumers, startIn } from "./consumerBroker.ts"

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

const connected = Effect.flatMap(Broker, ({ state }) => state).pipe(
  Effect.repeat({ until: (state) => state === "connected", schedule: patiently })
)

const away = Effect.flatMap(Broker, ({ state }) => state).pipe(
  Effect.repeat({ until: (state) => state === "away", schedule: patiently })
)

const delivers = (message: NatsMessage) =>
  Effect.map(send(message), ({ delivered, error }) => assert.deepStrictEqual([delivered, error], [true, undefined]))

const bodies = (messages: ReadonlyArray<{ readonly body: string }>) => messages.map(({ body }) => body)

describe("sending to a consumer over NATS", () => {
  it.scopedLive("keeps what an integration was sent that was made while the others were read", () =>
    Effect.gen(function* () {
      const { url } = yield* startForConsumers(integration, other)
      const using = yield* senderAt(url)
      yield* Effect.gen(function* () {
        yield* connected
        const { reconcile } = yield* NatsSender
        yield* delivers(event("evt_1"))
        yield* reconcile(Effect.as(delivers(event("evt_2", { integration: other })), [{ tenant, id: integration }]))
      }).pipe(using)
      assert.lengthOf(yield* pulled(yield* asConsumer(url, other), other, 1), 1)
      yield* Effect.flatMap(NatsSender, ({ reconcile }) => reconcile(Effect.succeed([{ tenant, id: other }]))).pipe(
        using
      )
      const gone = yield* Effect.exit(pulled(yield* asConsumer(url, integration), integration, 1))
      assert.isTrue(Exit.isFailure(gone) || gone.value.length === 0, "what is left over goes with its messages")
    })
  )

  it.scopedLive("gives it exactly its integration's messages, in order, as sent", () =>
    Effect.gen(function* () {
      const { url } = yield* startForConsumers(integration, other)
      const using = yield* senderAt(url)
      const ids = Array.from({ length: 20 }, (_, index) => `evt_${index}`)
      yield* Effect.gen(function* () {
        yield* connected
        for (const id of ids) {
          yield* delivers(event(id, { type: Number(id.slice(4)) % 2 === 0 ? "client.created" : "client.updated" }))
          yield* delivers(event(id, { integration: other, body: "of the other" }))
        }
      }).pipe(using)
      const messages = yield* pulled(yield* asConsumer(url, integration), integration, ids.length + 1)
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

  it.scopedLive("stores a repeated attempt once, and again what is sent again on demand", () =>
    Effect.gen(function* () {
      const { url } = yield* startForConsumers(integration)
      const using = yield* senderAt(url)
      yield* Effect.gen(function* () {
        yield* connected
        yield* Effect.forEach([0, 0, 1, 1, 2], (redeliveryRound) =>
          delivers(event("evt_1", { redeliveryRound, body: `round ${redeliveryRound}` }))
        )
      }).pipe(using)
      const messages = yield* pulled(yield* asConsumer(url, integration), integration)
      assert.deepStrictEqual(bodies(messages), ["round 0", "round 1", "round 2"])
    })
  )

  it.scopedLive("takes the consumer and what waits for it away with the integration", () =>
    Effect.gen(function* () {
      const { url } = yield* startForConsumers(integration, other)
      const using = yield* senderAt(url)
      yield* Effect.gen(function* () {
        yield* connected
        const sender = yield* NatsSender
        yield* sender.removeConsumer(tenant, integration)
        yield* Effect.forEach([integration, other], (integration) => delivers(event("evt_1", { integration })))
        yield* sender.removeConsumer(tenant, integration)
        yield* sender.removeConsumer(tenant, integration)
      }).pipe(using)
      const failure = yield* Effect.flip(pulled(yield* asConsumer(url, integration), integration))
      assert.include(String(failure.cause), "consumer not found")
      assert.lengthOf(yield* pulled(yield* asConsumer(url, other), other), 1)
      yield* using(delivers(event("evt_2")))
      assert.deepStrictEqual(bodies(yield* pulled(yield* asConsumer(url, integration), integration)), [
        '{"id":"evt_2"}'
      ])
    })
  )

  it.scopedLive("says what is wrong with a message the server does not take", () =>
    Effect.gen(function* () {
      const { url } = yield* startForConsumers(integration)
      const using = yield* senderAt(url)
      const outcome = yield* using(Effect.zipRight(connected, send(event("evt_1", { body: "x".repeat(2_000_000) }))))
      assert.deepInclude(outcome, {
        delivered: false,
        error: "The message is larger than the message broker takes"
      })
      yield* using(delivers(event("evt_2")))
    })
  )
})

describe("sending without a broker", () => {
  it.scopedLive("fails at once while it was never there, and when none is configured", () =>
    Effect.gen(function* () {
      const closed = yield* senderAt(`nats://127.0.0.1:${yield* Effect.promise(findClosedPort)}`)
      const none = yield* senderAt(undefined)
      const outcomes = yield* Effect.all([closed(send(event("evt_1"))), none(send(event("evt_1")))])
      assert.deepStrictEqual(
        outcomes.map(({ delivered, error }) => [delivered, error]),
        [
          [false, "The message broker is away"],
          [false, "No message broker is configured"]
        ]
      )
      for (const { latencyMs } of outcomes) assert.isBelow(latencyMs, 200)
    })
  )

  it.scopedLive("fails at once while it is away, and delivers when it is back", () =>
    Effect.gen(function* () {
      const { url } = yield* startForConsumers(integration)
      const proxy = yield* Effect.acquireRelease(
        Effect.promise(() => startProxy(url)),
        (proxy) => Effect.promise(() => proxy.stop())
      )
      const using = yield* senderAt(proxy.url)
      yield* using(Effect.zipRight(connected, delivers(event("evt_1"))))
      yield* Effect.promise(() => proxy.cut())
      yield* using(away)
      const { delivered, error, latencyMs } = yield* using(send(event("evt_2")))
      assert.deepStrictEqual([delivered, error], [false, "The message broker is away"])
      assert.isBelow(latencyMs, 200)
      yield* Effect.promise(() => proxy.restore())
      yield* using(Effect.zipRight(connected, delivers(event("evt_2"))))
      const messages = yield* pulled(yield* asConsumer(url, integration), integration)
      assert.deepStrictEqual(bodies(messages), ['{"id":"evt_1"}', '{"id":"evt_2"}'])
    })
  )

  it.scopedLive("gives up on one that has fallen silent, and stores the repeated attempt once", () =>
    Effect.gen(function* () {
      const { url } = yield* startForConsumers(integration)
      const proxy = yield* Effect.acquireRelease(
        Effect.promise(() => startProxy(url)),
        (proxy) => Effect.promise(() => proxy.stop())
      )
      const using = yield* senderAt(proxy.url)
      yield* using(Effect.zipRight(connected, delivers(event("evt_1"))))
      proxy.stall()
      const { delivered, error, latencyMs } = yield* using(send(event("evt_2")))
      assert.deepStrictEqual([delivered, error], [false, "The message broker did not answer in time"])
      assert.isBelow(latencyMs, 6000)
      proxy.flow()
      yield* using(
        send(event("evt_2")).pipe(Effect.repeat({ until: ({ delivered }) => delivered, schedule: patiently }))
      )
      const messages = yield* pulled(yield* asConsumer(url, integration), integration)
      assert.deepStrictEqual(bodies(messages), ['{"id":"evt_1"}', '{"id":"evt_2"}'])
    })
  )
})

describe("a broker that lost what it kept", () => {
  it.scopedLive("has stream and consumer again with the next delivery after it was wiped", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const first = yield* Scope.make()
      const start = startIn(folder, [accountOf(integration)])
      const { url } = yield* Scope.extend(start, first)
      const using = yield* senderAt(url)
      yield* using(Effect.zipRight(connected, delivers(event("evt_1"))))
      yield* Scope.close(first, Exit.void)
      yield* using(away)
      rmSync(join(folder, "nats", "jetstream"), { recursive: true })
      assert.strictEqual((yield* start).url, url)
      yield* using(Effect.zipRight(connected, delivers(event("evt_2"))))
      yield* using(delivers(event("evt_1", { redeliveryRound: 1 })))
      const messages = yield* pulled(yield* asConsumer(url, integration), integration)
      assert.deepStrictEqual(bodies(messages), ['{"id":"evt_2"}', '{"id":"evt_1"}'])
    })
  )

  it.scopedLive("has them again with the second delivery after the stream was removed behind our back", () =>
    Effect.gen(function* () {
      const { url } = yield* startForConsumers(integration)
      const using = yield* senderAt(url)
      yield* using(Effect.zipRight(connected, delivers(event("evt_1"))))
      const service = yield* asService(url)
      yield* Effect.promise(async () => (await service.jetstreamManager()).streams.delete("contracting-integrations"))
      const { error } = yield* using(send(event("evt_2")))
      assert.strictEqual(error, "The message broker keeps no stream for it")
      yield* using(delivers(event("evt_2")))
      const messages = yield* pulled(yield* asConsumer(url, integration), integration)
      assert.deepStrictEqual(bodies(messages), ['{"id":"evt_2"}'])
    })
  )
})

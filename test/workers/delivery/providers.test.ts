import type { ServerResponse } from "node:http"
import { connect, type JsMsg, type NatsConnection } from "nats"
import type pg from "pg"
import { Webhook } from "standardwebhooks"
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "vitest"
import { initialLimit } from "../../../src/domain/delivery/SendLimits.ts"
import { makeNatsNames } from "../../../src/layers/nats/NatsNames.ts"
import { parseMetrics } from "../../support/assertions/metrics.ts"
import { integrationClient } from "../../support/fixtures/integrations.ts"
import { openPool } from "../../support/servers/database.ts"
import { findClosedPort } from "../../support/servers/proxy.ts"
import { type Receiver, startReceiver } from "../../support/servers/receiver.ts"
import { type Service, startService } from "../../support/servers/service.ts"
import { eventually, type RunningWorker, startWorker } from "../../support/servers/worker.ts"

interface Ledgered {
  readonly id: string
  readonly status: string
  readonly attempts: number
  readonly nextAttemptAt?: string
}

describe("delivering", { timeout: 90_000 }, () => {
  let service: Service
  let pool: pg.Pool
  let broker: NatsConnection
  let relay: RunningWorker
  let delivery: RunningWorker
  let metricsPort: number
  let tenant: string
  const receivers: Array<Receiver> = []

  const startDelivery = async () => {
    delivery = await startWorker({ settings: { ...service.settings, METRICS_PORT: metricsPort } }, "delivery")
  }
  beforeAll(async () => {
    service = await startService()
    pool = openPool(service.database.url)
    broker = await connect({ servers: service.settings.NATS_URL ?? "" })
    metricsPort = await findClosedPort()
    relay = await startWorker(service, "relay")
    await startDelivery()
  })
  beforeEach(async () => {
    tenant = await service.newTenant()
  })
  afterAll(async () => {
    await Promise.all([relay.stop(), delivery.stop()])
    await Promise.all(receivers.map(({ stop }) => stop()))
    await broker.close()
    await pool.end()
    await service.stop()
  })

  const receiver = async (...answering: Parameters<typeof startReceiver>) => {
    const started = await startReceiver(...answering)
    receivers.push(started)
    return started
  }
  /** A receiver that answers nobody until it is told to, and then everybody. */
  const holding = async () => {
    const held: Array<ServerResponse> = []
    const started = await receiver((_, response) => void held.push(response))
    return {
      ...started,
      release: () => {
        started.answer((_, response) => response.end())
        for (const response of held) response.end()
      }
    }
  }
  const call = async (method: string, path: string, body?: object, as = tenant) => {
    const answer = await service.api(method, path, { as: "owner", tenant: as, ...(body === undefined ? {} : { body }) })
    assert.include([200, 201, 202, 204], answer.status, answer.text)
    return answer.body?.data
  }
  const integrate = async (fields: object, subscription?: object, as = tenant) => {
    const integrations = integrationClient(service, as)
    const made = await integrations.made({ name: "Hook", ...fields })
    if (subscription !== undefined) await integrations.madeSubscription(made.id, subscription)
    return made
  }
  const hook = (url: string, subscription?: object, as = tenant) =>
    integrate({ provider: "WEBHOOK", config: { url } }, subscription, as)
  const ping = (id: string, as = tenant) => call("POST", `/integrations/${id}/ping`, {}, as)
  const client = async (...more: ReadonlyArray<string>) => {
    const { id } = await call("POST", "/clients", { name: "Northwind" })
    for (const name of more) await call("PATCH", `/clients/${id}`, { name })
    return String(id)
  }
  const ledger = (id: string): Promise<ReadonlyArray<Ledgered>> =>
    call("GET", `/integrations/${id}/deliveries?limit=200`)
  const is = (id: string, status: string, count = 1) =>
    eventually(
      async () => (await ledger(id)).filter((one) => one.status === status).length === count,
      `${count} ${status}`
    )
  const sequences = ({ received }: Pick<Receiver, "received">) =>
    received.map(({ text }) => Number(JSON.parse(text).sequence))
  /** Makes it due, whenever it would have been tried again. */
  const moveClock = (integration: string) =>
    pool.query("update deliveries set next_attempt_at = now() where integration_id = $1 and status = 'PENDING'", [
      integration
    ])
  /** Until the worker has been through everything that is due, twice: a delivery to somebody else has come and gone. */
  const passBy = async () => {
    const other = await receiver()
    const elsewhere = await service.newTenant()
    const { id } = await hook(other.url, undefined, elsewhere)
    for (const count of [1, 2]) {
      await ping(id, elsewhere)
      await eventually(() => other.received.length === count, "somebody else is told")
    }
  }
  const counted = async () => {
    const samples = parseMetrics(await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text())
    return (outcome: string) =>
      samples.find(({ labels, name }) => name === "delivery_attempts_total" && labels["outcome"] === outcome)?.value ??
      assert.fail(`nothing is counted as ${outcome}`)
  }

  describe("over NATS", () => {
    const stream = () => makeNatsNames(service.settings.NATS_NAMESPACE).integrations
    const manager = () => broker.jetstreamManager()
    const hasConsumer = async (id: string) =>
      (await manager()).consumers.info(stream().stream, id).then(
        () => true,
        () => false
      )
    const stored = async (id: string) => {
      const filter = stream().subjectFilter(tenant, id)
      const { state } = await (await manager()).streams.info(stream().stream, { subjects_filter: filter })
      return Object.values(state.subjects ?? {}).reduce((sum, count) => sum + count, 0)
    }
    const pull = async (id: string, count: number) => {
      const consumer = await broker.jetstream().consumers.get(stream().stream, id)
      const messages: Array<JsMsg> = []
      for await (const message of await consumer.fetch({ max_messages: count, expires: 10_000 })) {
        messages.push(message)
        await message.ackAck()
      }
      return messages
    }

    it("lets a consumer pull its events in order, and again what is redelivered", async () => {
      const { id } = await integrate({ provider: "NATS" })
      await eventually(() => hasConsumer(id), "there is a consumer though nothing was sent")
      await integrationClient(service, tenant).madeSubscription(id, { eventType: "client.*" })
      await client("Two", "Three")
      const messages = await pull(id, 3)
      const feed = await call("GET", "/events?type=client.*")
      assert.deepStrictEqual(
        messages.map((message) => message.json()),
        feed
      )
      assert.deepStrictEqual(
        messages.map(({ headers }) => headers?.get("webhook-id")),
        feed.map(({ id }: { id: string }) => id)
      )
      await is(id, "DELIVERED", 3)
      const [newest] = await ledger(id)
      await call("POST", `/integrations/${id}/deliveries/${newest?.id}/redeliver`)
      const [again] = await pull(id, 1)
      assert.include(
        feed.map(({ id }: { id: string }) => id),
        again?.headers?.get("webhook-id")
      )
    })

    it("ends with the integration: its consumer goes, and what waits for it", async () => {
      const { id } = await integrate({ provider: "NATS" }, { eventType: "client.*" })
      const { id: other } = await integrate({ provider: "NATS" }, { eventType: "client.*" })
      await client("Two")
      await Promise.all([is(id, "DELIVERED", 2), is(other, "DELIVERED", 2)])
      assert.deepStrictEqual([await stored(id), await stored(other)], [2, 2])
      await call("DELETE", `/integrations/${id}`)
      await eventually(async () => !(await hasConsumer(id)), "the consumer is gone")
      await eventually(async () => (await stored(id)) === 0, "what waited is gone")
      assert.deepStrictEqual([await hasConsumer(other), await stored(other)], [true, 2])
    })
  })

  describe("to a webhook", () => {
    it("waits until the moment that the receiver names", async () => {
      const later = new Date(Math.ceil(Date.now() / 1000) * 1000 + 2 * 60 * 60 * 1000)
      const { url } = await receiver((_, response) =>
        response.writeHead(503, { "retry-after": later.toUTCString() }).end()
      )
      const { id } = await hook(url)
      await ping(id)
      await eventually(async () => (await ledger(id))[0]?.attempts === 1, "it was tried")
      assert.deepInclude((await ledger(id))[0], { status: "PENDING", nextAttemptAt: later.toISOString() })
    })

    it("is given up after the whole schedule, and the next about the same resource is sent", async () => {
      const refusing = await receiver(({ text }, response) =>
        response.writeHead(JSON.parse(text).sequence === 1 ? 500 : 200).end()
      )
      const { id } = await hook(refusing.url, { eventType: "client.*" })
      await client("Two")
      for (let n = 1; n <= 10; n++) {
        await eventually(async () => (await ledger(id)).some(({ attempts }) => attempts === n), `attempt ${n}`)
        await moveClock(id)
      }
      await is(id, "EXHAUSTED")
      await is(id, "DELIVERED")
      assert.deepStrictEqual(sequences(refusing), [...Array.from({ length: 10 }, () => 1), 2])
      const exhausted = (await ledger(id)).find(({ status }) => status === "EXHAUSTED")
      assert.deepInclude(exhausted, { attempts: 10 })
      assert.notProperty(exhausted, "nextAttemptAt")
      refusing.answer((_, response) => response.end())
      await call("POST", `/integrations/${id}/deliveries/${exhausted?.id}/redeliver`)
      await is(id, "DELIVERED", 2)
    })

    it("is signed with both secrets while one replaces the other", async () => {
      const { received, url } = await receiver()
      const { id, secret: before = "" } = await hook(url)
      const { secret: after } = await call("POST", `/integrations/${id}/rotate-secret`, {})
      await ping(id)
      await eventually(() => received.length === 1, "the ping")
      const { headers, text } = received[0] ?? assert.fail("nothing came")
      assert.lengthOf(headers["webhook-signature"]?.split(" ") ?? [], 2)
      for (const secret of [before, after])
        assert.deepEqual(new Webhook(secret).verify(text, { ...headers }), JSON.parse(text))
      const { secret: last } = await call("POST", `/integrations/${id}/rotate-secret`, { overlapHours: 0 })
      await ping(id)
      await eventually(() => received.length === 2, "the second ping")
      const second = received[1] ?? assert.fail("nothing came")
      // The first keeps the time it was given when it was replaced.
      for (const secret of [before, last]) new Webhook(secret).verify(second.text, { ...second.headers })
      assert.throws(() => new Webhook(after).verify(second.text, { ...second.headers }))
    })

    it("tells who is subscribed to one client of that client alone", async () => {
      const [mine, other] = [await client(), await client()]
      const narrow = await receiver()
      const wide = await receiver()
      await hook(narrow.url, { eventType: "client.*", clientId: mine })
      await hook(wide.url, { eventType: "client.*" })
      for (const id of [other, mine, other]) await call("PATCH", `/clients/${id}`, { name: "Changed" })
      await eventually(() => wide.received.length === 3, "all changes")
      await eventually(() => narrow.received.length === 1, "its own change")
      await passBy()
      assert.deepStrictEqual(
        narrow.received.map(({ text }) => JSON.parse(text).data.id),
        [mine]
      )
    })

    it("stops at once for a tenant that is deleted", async () => {
      const refusing = await receiver((_, response) => response.writeHead(500).end())
      const { id } = await hook(refusing.url)
      await ping(id)
      await eventually(async () => (await ledger(id))[0]?.attempts === 1, "it was tried")
      await service.api("DELETE", `/tenants/${tenant}`, { as: "owner", tenant })
      await moveClock(id)
      await passBy()
      assert.lengthOf(refusing.received, 1)
    })

    it("goes on with the others when an integration is deleted while it is sent to", async () => {
      const { received, release, url } = await holding()
      const { id } = await hook(url, { eventType: "client.*" })
      await client("Two")
      await eventually(() => received.length === 1, "one is under way")
      await call("DELETE", `/integrations/${id}`)
      release()
      await passBy()
      assert.lengthOf(received, 1)
      const due = "select 1 from delivery_queues where integration_id = $1 and due_at <= now()"
      await eventually(async () => (await pool.query(due, [id])).rows.length === 0, "what it left is put aside")
      assert.isFalse(delivery.lines.some((line) => line.includes("could not be recorded")))
    })

    it("has no more than a few under way to a receiver that has not answered yet, which keeps nobody else waiting", async () => {
      const most = initialLimit.NEW
      const all = most + 8
      const { received, release, url } = await holding()
      const { id } = await hook(url, { eventType: "client.*" })
      await call("POST", `/integrations/${id}/pause`)
      await Promise.all(Array.from({ length: all }, () => client()))
      await is(id, "PENDING", all)
      await call("POST", `/integrations/${id}/resume`)
      await eventually(() => received.length === most, "as many as there may be")
      await passBy()
      assert.lengthOf(received, most)
      release()
      await eventually(() => received.length === all, "the rest")
      await is(id, "DELIVERED", all)
    })

    it("is finished and written down by a worker that is told to stop", async () => {
      const { received, release, url } = await holding()
      const { id } = await hook(url, { eventType: "client.*" })
      await client("Two")
      await eventually(() => received.length === 1, "one is under way")
      await is(id, "WAITING")
      const stopped = delivery.stop()
      release()
      await stopped
      const { rows } = await pool.query(
        "select sequence, status, lease from deliveries where integration_id = $1 order by sequence",
        [id]
      )
      assert.deepInclude(rows[0], { sequence: 1, status: "DELIVERED", lease: null })
      assert.deepInclude(rows[1], { sequence: 2, status: "PENDING", lease: null })
      await startDelivery()
      await is(id, "DELIVERED", 2)
      assert.deepStrictEqual(sequences({ received }), [1, 2])
    })

    it("is counted by what came of it", async () => {
      const earlier = await counted()
      const { answer, url } = await receiver((_, response) => response.writeHead(500).end())
      const { id } = await hook(url)
      await ping(id)
      await eventually(async () => (await ledger(id))[0]?.attempts === 1, "it was tried")
      answer((_, response) => response.end())
      await pool.query(
        `update deliveries set lease = 'of nobody', leased_until = now(), next_attempt_at = now()
         where integration_id = $1`,
        [id]
      )
      await is(id, "DELIVERED")
      const { attemptLog } = await call("GET", `/integrations/${id}/deliveries/${(await ledger(id))[0]?.id}`)
      assert.deepStrictEqual(
        attemptLog.map(({ outcome }: { outcome: string }) => outcome),
        ["FAILED", "LOST", "DELIVERED"]
      )
      await eventually(async () => (await counted())("DELIVERED") === earlier("DELIVERED") + 1, "it is counted")
      const later = await counted()
      for (const outcome of ["FAILED", "LOST"]) assert.strictEqual(later(outcome), earlier(outcome) + 1, outcome)
    })
  })
})

import type { ServerResponse } from "node:http"
import { connect, type JsMsg, type NatsConnection } from "nats"
import type pg from "pg"
import { Webhook } from "standardwebhooks"
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "vitest"
import { initialLimit } from "../../../src/domain/delivery/SendLimits.ts"
import { makeNatsNames } from "../../../src/layers/infra/nats/NatsNames.ts"
import { parseMetrics } from "../../support/assertions/metrics.ts"
import { integrationClient } from "../../support/fixtures/integrations.ts"
import { openPool } from "../../support/servers/database.ts"
import { untilAnswered } from "../../support/servers/natsCluster.ts"
import { findClosedPort } from "../../support/servers/proxy.ts"
import { type Receiver, startReceiver } from "../../support/servers/receiver.ts"
import { type Service, startService } from "../../support/servers/service.ts"
import { eventually, type RunningWorker, startWorker } from "../../support/servers/worker.ts"

interface ListedDelivery {
  readonly id: string
  readonly status: string
  readonly attempts: number
  readonly nextAttemptAt?: string
}

describe("Deliveries", { timeout: 90_000 }, () => {
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
    service = await startService({})
    pool = openPool(service.database.url)
    broker = await connect({ servers: [...(service.settings.NATS_URL ?? [])] })
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

  const newReceiver = async (...args: Parameters<typeof startReceiver>) => {
    const started = await startReceiver(...args)
    receivers.push(started)
    return started
  }
  /** A receiver that responds to no request before its release. */
  const newBlockedReceiver = async () => {
    const blocked: Array<ServerResponse> = []
    const started = await newReceiver((_, response) => void blocked.push(response))
    return {
      ...started,
      release: () => {
        started.respondWith((_, response) => response.end())
        for (const response of blocked) response.end()
      }
    }
  }
  const call = async (method: string, path: string, body?: object, as = tenant) => {
    const response = await service.api(method, path, {
      as: "owner",
      tenant: as,
      ...(body === undefined ? {} : { body })
    })
    assert.include([200, 201, 202, 204], response.status, response.text)
    return response.body?.data
  }
  const createIntegration = async (fields: object, subscription?: object, as = tenant) => {
    const integrations = integrationClient(service, as)
    const integration = await integrations.mustCreate({ name: "Webhook", ...fields })
    if (subscription !== undefined) await integrations.mustSubscribe(integration.id, subscription)
    return integration
  }
  const createWebhook = (url: string, subscription?: object, as = tenant) =>
    createIntegration({ provider: "WEBHOOK", config: { url } }, subscription, as)
  const sendPing = (id: string, as = tenant) => call("POST", `/integrations/${id}/ping`, {}, as)
  const createClient = async (...more: ReadonlyArray<string>) => {
    const { id } = await call("POST", "/clients", { name: "Northwind" })
    for (const name of more) await call("PATCH", `/clients/${id}`, { name })
    return String(id)
  }
  const listDeliveries = (id: string): Promise<ReadonlyArray<ListedDelivery>> =>
    call("GET", `/integrations/${id}/deliveries?limit=200`)
  const waitForStatus = (id: string, status: string, count = 1) =>
    eventually(
      async () => (await listDeliveries(id)).filter((delivery) => delivery.status === status).length === count,
      `${count} deliveries are ${status}`
    )
  const sequences = ({ received }: Pick<Receiver, "received">) =>
    received.map(({ text }) => Number(JSON.parse(text).sequence))
  /** Makes pending deliveries due now. */
  const makeDue = (integration: string) =>
    pool.query("update deliveries set next_attempt_at = now() where integration_id = $1 and status = 'PENDING'", [
      integration
    ])
  /** Waits until the worker has claimed twice: it delivers two pings of another tenant. */
  const waitForOtherDeliveries = async () => {
    const other = await newReceiver()
    const elsewhere = await service.newTenant()
    const { id } = await createWebhook(other.url, undefined, elsewhere)
    for (const count of [1, 2]) {
      await sendPing(id, elsewhere)
      await eventually(() => other.received.length === count, "the other tenant's ping arrives")
    }
  }
  const readAttemptCounter = async () => {
    const samples = parseMetrics(await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text())
    return (outcome: string) =>
      samples.find(({ labels, name }) => name === "delivery_attempts_total" && labels["outcome"] === outcome)?.value ??
      assert.fail(`no attempt is counted as ${outcome}`)
  }

  describe("over NATS", () => {
    const streamNames = () => makeNatsNames(service.settings.NATS_NAMESPACE).integrations
    const jetstreamManager = () => untilAnswered(() => broker.jetstreamManager())
    const hasConsumer = async (id: string) => {
      const { consumers } = await jetstreamManager()
      return untilAnswered(() => consumers.info(streamNames().stream, id)).then(
        () => true,
        () => false
      )
    }
    const countStored = async (id: string) => {
      const filter = streamNames().subjectFilter(tenant, id)
      const { streams } = await jetstreamManager()
      const { state } = await untilAnswered(() => streams.info(streamNames().stream, { subjects_filter: filter }))
      return Object.values(state.subjects ?? {}).reduce((sum, count) => sum + count, 0)
    }
    const pull = async (id: string, count: number) => {
      const consumer = await untilAnswered(() => broker.jetstream().consumers.get(streamNames().stream, id))
      const messages: Array<JsMsg> = []
      const pullRest = async () => {
        for await (const message of await consumer.fetch({ max_messages: count - messages.length, expires: 10_000 })) {
          await untilAnswered(() => message.ackAck())
          messages.push(message)
        }
        return messages.length === count
      }
      await eventually(() => untilAnswered(pullRest), `${count} messages are pulled`)
      return messages
    }

    it("are pulled by a consumer in order, and again after a redelivery", async () => {
      const { id } = await createIntegration({ provider: "NATS" })
      await eventually(() => hasConsumer(id), "the consumer exists before the first event")
      await integrationClient(service, tenant).mustSubscribe(id, { eventType: "client.*" })
      await createClient("Two", "Three")
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
      await waitForStatus(id, "DELIVERED", 3)
      const [newest] = await listDeliveries(id)
      await call("POST", `/integrations/${id}/deliveries/${newest?.id}/redeliver`)
      const [again] = await pull(id, 1)
      assert.include(
        feed.map(({ id }: { id: string }) => id),
        again?.headers?.get("webhook-id")
      )
    })

    it("are deleted with the consumer when the integration is deleted", async () => {
      const { id } = await createIntegration({ provider: "NATS" }, { eventType: "client.*" })
      const { id: other } = await createIntegration({ provider: "NATS" }, { eventType: "client.*" })
      await createClient("Two")
      await Promise.all([waitForStatus(id, "DELIVERED", 2), waitForStatus(other, "DELIVERED", 2)])
      assert.deepStrictEqual([await countStored(id), await countStored(other)], [2, 2])
      await call("DELETE", `/integrations/${id}`)
      await eventually(async () => !(await hasConsumer(id)), "the consumer is deleted")
      await eventually(async () => (await countStored(id)) === 0, "its messages are deleted")
      assert.deepStrictEqual([await hasConsumer(other), await countStored(other)], [true, 2])
    })
  })

  describe("to a webhook", () => {
    it("wait until the time in the receiver's Retry-After header", async () => {
      const later = new Date(Math.ceil(Date.now() / 1000) * 1000 + 2 * 60 * 60 * 1000)
      const { url } = await newReceiver((_, response) =>
        response.writeHead(503, { "retry-after": later.toUTCString() }).end()
      )
      const { id } = await createWebhook(url)
      await sendPing(id)
      await eventually(async () => (await listDeliveries(id))[0]?.attempts === 1, "the first attempt is recorded")
      assert.deepInclude((await listDeliveries(id))[0], { status: "PENDING", nextAttemptAt: later.toISOString() })
    })

    it("are exhausted after the whole retry schedule, and the next event of the resource is sent", async () => {
      const receiver = await newReceiver(({ text }, response) =>
        response.writeHead(JSON.parse(text).sequence === 1 ? 500 : 200).end()
      )
      const { id } = await createWebhook(receiver.url, { eventType: "client.*" })
      await createClient("Two")
      for (let n = 1; n <= 10; n++) {
        await eventually(async () => (await listDeliveries(id)).some(({ attempts }) => attempts === n), `attempt ${n}`)
        await makeDue(id)
      }
      await waitForStatus(id, "EXHAUSTED")
      await waitForStatus(id, "DELIVERED")
      assert.deepStrictEqual(sequences(receiver), [...Array.from({ length: 10 }, () => 1), 2])
      const exhausted = (await listDeliveries(id)).find(({ status }) => status === "EXHAUSTED")
      assert.deepInclude(exhausted, { attempts: 10 })
      assert.notProperty(exhausted, "nextAttemptAt")
      receiver.respondWith((_, response) => response.end())
      await call("POST", `/integrations/${id}/deliveries/${exhausted?.id}/redeliver`)
      await waitForStatus(id, "DELIVERED", 2)
    })

    it("are signed with both secrets during the overlap of a rotation", async () => {
      const { received, url } = await newReceiver()
      const { id, secret: before = "" } = await createWebhook(url)
      const { secret: after } = await call("POST", `/integrations/${id}/rotate-secret`, {})
      await sendPing(id)
      await eventually(() => received.length === 1, "the ping arrives")
      const { headers, text } = received[0] ?? assert.fail("no request")
      assert.lengthOf(headers["webhook-signature"]?.split(" ") ?? [], 2)
      for (const secret of [before, after])
        assert.deepEqual(new Webhook(secret).verify(text, { ...headers }), JSON.parse(text))
      const { secret: last } = await call("POST", `/integrations/${id}/rotate-secret`, { overlapHours: 0 })
      await sendPing(id)
      await eventually(() => received.length === 2, "the second ping arrives")
      const second = received[1] ?? assert.fail("no request")
      // The first secret keeps the expiry that its own rotation has set.
      for (const secret of [before, last]) new Webhook(secret).verify(second.text, { ...second.headers })
      assert.throws(() => new Webhook(after).verify(second.text, { ...second.headers }))
    })

    it("carry only the events of one client when the subscription names the client", async () => {
      const [mine, other] = [await createClient(), await createClient()]
      const narrow = await newReceiver()
      const wide = await newReceiver()
      // Not client.*: a late fan-out would also deliver the creations, which came before the subscriptions.
      await createWebhook(narrow.url, { eventType: "client.updated", clientId: mine })
      await createWebhook(wide.url, { eventType: "client.updated" })
      for (const id of [other, mine, other]) await call("PATCH", `/clients/${id}`, { name: "Changed" })
      await eventually(() => wide.received.length === 3, "all changes arrive")
      await eventually(() => narrow.received.length === 1, "the change of the client arrives")
      await waitForOtherDeliveries()
      assert.deepStrictEqual(
        narrow.received.map(({ text }) => JSON.parse(text).data.id),
        [mine]
      )
    })

    it("stop as soon as the tenant is deleted", async () => {
      const receiver = await newReceiver((_, response) => response.writeHead(500).end())
      const { id } = await createWebhook(receiver.url)
      await sendPing(id)
      await eventually(async () => (await listDeliveries(id))[0]?.attempts === 1, "the first attempt is recorded")
      await service.api("DELETE", `/tenants/${tenant}`, { as: "owner", tenant })
      await makeDue(id)
      await waitForOtherDeliveries()
      assert.lengthOf(receiver.received, 1)
    })

    it("continue for other integrations when an integration is deleted during a request", async () => {
      const { received, release, url } = await newBlockedReceiver()
      const { id } = await createWebhook(url, { eventType: "client.*" })
      await createClient("Two")
      await eventually(() => received.length === 1, "one request is in flight")
      await call("DELETE", `/integrations/${id}`)
      release()
      await waitForOtherDeliveries()
      assert.lengthOf(received, 1)
      const due = "select 1 from delivery_queues where integration_id = $1 and due_at <= now()"
      await eventually(async () => (await pool.query(due, [id])).rows.length === 0, "its queue is no longer due")
      assert.isFalse(delivery.lines.some((line) => line.includes("could not be recorded")))
    })

    it("are limited in flight to a receiver that has not responded yet, without delaying other receivers", async () => {
      const maxInFlight = initialLimit.NEW
      const total = maxInFlight + 8
      const { received, release, url } = await newBlockedReceiver()
      const { id } = await createWebhook(url, { eventType: "client.*" })
      await call("POST", `/integrations/${id}/pause`)
      await Promise.all(Array.from({ length: total }, () => createClient()))
      await waitForStatus(id, "PENDING", total)
      await call("POST", `/integrations/${id}/resume`)
      await eventually(() => received.length === maxInFlight, "the maximum is in flight")
      await waitForOtherDeliveries()
      assert.lengthOf(received, maxInFlight)
      release()
      await eventually(() => received.length === total, "the rest arrives")
      await waitForStatus(id, "DELIVERED", total)
    })

    it("are finished and recorded when the worker stops during a request", async () => {
      const { received, release, url } = await newBlockedReceiver()
      const { id } = await createWebhook(url, { eventType: "client.*" })
      await createClient("Two")
      await eventually(() => received.length === 1, "one request is in flight")
      await waitForStatus(id, "WAITING")
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
      await waitForStatus(id, "DELIVERED", 2)
      assert.deepStrictEqual(sequences({ received }), [1, 2])
    })

    it("are counted by outcome in delivery_attempts_total", async () => {
      const earlier = await readAttemptCounter()
      const { respondWith: answer, url } = await newReceiver((_, response) => response.writeHead(500).end())
      const { id } = await createWebhook(url)
      await sendPing(id)
      await eventually(async () => (await listDeliveries(id))[0]?.attempts === 1, "the first attempt is recorded")
      answer((_, response) => response.end())
      await pool.query(
        `update deliveries set lease = 'of a crashed worker', leased_until = now(), next_attempt_at = now()
         where integration_id = $1`,
        [id]
      )
      await waitForStatus(id, "DELIVERED")
      const { attemptLog } = await call("GET", `/integrations/${id}/deliveries/${(await listDeliveries(id))[0]?.id}`)
      assert.deepStrictEqual(
        attemptLog.map(({ outcome }: { outcome: string }) => outcome),
        ["FAILED", "LOST", "DELIVERED"]
      )
      await eventually(
        async () => (await readAttemptCounter())("DELIVERED") === earlier("DELIVERED") + 1,
        "the attempt is counted"
      )
      const later = await readAttemptCounter()
      for (const outcome of ["FAILED", "LOST"]) assert.strictEqual(later(outcome), earlier(outcome) + 1, outcome)
    })
  })
})

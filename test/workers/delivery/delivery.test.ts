import { Webhook } from "standardwebhooks"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Receiver, startReceiver } from "../../support/servers/receiver.ts"
import { type Service, startService } from "../../support/servers/service.ts"
import { eventually, type RunningWorker, startWorker } from "../../support/servers/worker.ts"

describe("Webhook deliveries", () => {
  let service: Service
  let running: ReadonlyArray<RunningWorker>
  const receivers: Array<Receiver> = []
  beforeAll(async () => {
    service = await startService({})
    running = [await startWorker(service, "relay"), await startWorker(service, "delivery")]
  })
  afterAll(async () => {
    await Promise.all(running.map(({ stop }) => stop()))
    await Promise.all(receivers.map(({ stop }) => stop()))
    await service.stop()
  })

  const newReceiver = async () => {
    const started = await startReceiver()
    receivers.push(started)
    return started
  }

  const post = async (tenant: string, path: string, body: object) => {
    const response = await service.api("POST", path, { as: "owner", tenant, body })
    assert.include([200, 201], response.status, response.text)
    return response.body.data
  }

  const createIntegration = async (tenant: string, url: string, ...types: ReadonlyArray<string>) => {
    const integration = await post(tenant, "/integrations", { provider: "WEBHOOK", name: "Webhook", config: { url } })
    for (const eventType of types) await post(tenant, `/integrations/${integration.id}/subscriptions`, { eventType })
    return integration
  }

  it("carry every event, signed and in the order of its resource, with the body of GET /events", async () => {
    const tenant = await service.newTenant()
    const { received, url } = await newReceiver()
    const { secret } = await createIntegration(tenant, `${url}/hook`, "client.*")
    const client = await post(tenant, "/clients", { name: "One" })
    for (const name of ["Two", "Three"])
      await service.api("PATCH", `/clients/${client.id}`, { as: "owner", tenant, body: { name } })
    await eventually(() => received.length === 3, "three deliveries")
    const bodies = received.map(({ text }) => JSON.parse(text))
    assert.deepStrictEqual(
      bodies.map(({ data, sequence, type }) => [type, sequence, data.name]),
      [
        ["client.created", 1, "One"],
        ["client.updated", 2, "Two"],
        ["client.updated", 3, "Three"]
      ]
    )
    for (const { headers, text } of received) new Webhook(secret).verify(text, { ...headers })
    for (const [n, { id }] of bodies.entries()) {
      assert.strictEqual(received[n]?.headers["webhook-id"], id)
      const { text } = await service.api("GET", `/events/${id}`, { as: "owner", tenant })
      assert.strictEqual(text, `{"data":${received[n]?.text}}`)
    }
    const feed = await service.api("GET", "/events?type=client.*", { as: "owner", tenant })
    assert.deepStrictEqual(feed.body.data, bodies)
  })

  it("are retried, log the result of each attempt, and can be redelivered", async () => {
    const tenant = await service.newTenant()
    const { respondWith: answer, received, url } = await newReceiver()
    answer((_, response) => response.writeHead(500).end("no"))
    const { id } = await createIntegration(tenant, url)
    const event = await post(tenant, `/integrations/${id}/ping`, {})
    await eventually(() => received.length === 1, "the first attempt")
    answer((_, response) => response.end("yes"))
    // Waits for the real retry delay of five seconds.
    await eventually(() => received.length === 2, "the second attempt")
    assert.strictEqual(received[0]?.text, received[1]?.text)
    const listDeliveries = async () =>
      (await service.api("GET", `/integrations/${id}/deliveries`, { as: "owner", tenant })).body.data
    await eventually(async () => (await listDeliveries())[0]?.status === "DELIVERED", "the delivery is finished")
    const [delivery] = await listDeliveries()
    assert.strictEqual(delivery.event, event.id)
    const { body } = await service.api("GET", `/integrations/${id}/deliveries/${delivery.id}`, { as: "owner", tenant })
    assert.deepStrictEqual(
      body.data.attemptLog.map(({ outcome, responseBody, responseStatus }: Record<string, unknown>) => [
        outcome,
        responseStatus,
        responseBody
      ]),
      [
        ["FAILED", 500, "no"],
        ["DELIVERED", 200, "yes"]
      ]
    )
    await service.api("POST", `/integrations/${id}/deliveries/${delivery.id}/redeliver`, { as: "owner", tenant })
    await eventually(() => received.length === 3, "the redelivery")
    assert.strictEqual(received[2]?.text, received[0]?.text)
  })

  it("wait while the integration is paused, and are sent in order after a resume", async () => {
    const tenant = await service.newTenant()
    const { received, url } = await newReceiver()
    const { id } = await createIntegration(tenant, url, "client.*")
    await service.api("POST", `/integrations/${id}/pause`, { as: "owner", tenant })
    const client = await post(tenant, "/clients", { name: "0" })
    for (let n = 1; n < 5; n++)
      await service.api("PATCH", `/clients/${client.id}`, { as: "owner", tenant, body: { name: `${n}` } })
    const countDeliveries = async () =>
      (await service.api("GET", `/integrations/${id}/deliveries`, { as: "owner", tenant })).body.data.length
    await eventually(async () => (await countDeliveries()) === 5, "GET /deliveries lists all")
    assert.strictEqual(received.length, 0)
    await service.api("POST", `/integrations/${id}/resume`, { as: "owner", tenant })
    await eventually(() => received.length === 5, "all are delivered")
    assert.deepStrictEqual(
      received.map(({ text }) => JSON.parse(text).sequence),
      [1, 2, 3, 4, 5]
    )
  })

  it("stop when the receiver responds with 410, and continue after a resume", async () => {
    const tenant = await service.newTenant()
    const { respondWith: answer, received, url } = await newReceiver()
    answer((_, response) => response.writeHead(410).end())
    const { id } = await createIntegration(tenant, url, "client.*")
    const client = await post(tenant, "/clients", { name: "0" })
    const readIntegration = async () =>
      (await service.api("GET", `/integrations/${id}`, { as: "owner", tenant })).body.data
    await eventually(async () => (await readIntegration()).status === "ERROR", "the integration is in ERROR")
    assert.include((await readIntegration()).statusReason, "410")
    await service.api("PATCH", `/clients/${client.id}`, { as: "owner", tenant, body: { name: "1" } })
    answer((_, response) => response.end())
    await service.api("POST", `/integrations/${id}/resume`, { as: "owner", tenant })
    await eventually(() => received.length === 3, "both are delivered")
    assert.deepStrictEqual(
      received.map(({ text }) => JSON.parse(text).sequence),
      [1, 1, 2]
    )
  })
})

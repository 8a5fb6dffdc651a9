import { Redacted } from "effect"
import { connect, type NatsConnection } from "nats"
import type pg from "pg"
import { afterAll, afterEach, assert, beforeAll, beforeEach, describe, it } from "vitest"
import { makeNatsNames } from "../../../src/layers/infra/nats/NatsNames.ts"
import { makeId } from "../../../src/layers/infra/postgres/IdGenerator.ts"
import type { WorkerName } from "../../../src/workers/registry.ts"
import { integrationClient } from "../../support/fixtures/integrations.ts"
import { openPool } from "../../support/servers/database.ts"
import { type NatsServer, startNatsServer } from "../../support/servers/nats.ts"
import { startProxy } from "../../support/servers/proxy.ts"
import { type Receiver, startReceiver } from "../../support/servers/receiver.ts"
import { type Service, startService } from "../../support/servers/service.ts"
import { eventually, type RunningWorker, startWorker } from "../../support/servers/worker.ts"

/** Copies the tenant's client.created event for another client. */
const copyEvent = `insert into events (tenant_id, id, type, resource_id, sequence, occurred_at, data)
  select tenant_id, $2, type, $3, 1, now(), jsonb_set(data::jsonb, '{id}', to_jsonb($3::text))
  from events where tenant_id = $1 and type = 'client.created'`

interface EventBody {
  readonly id: string
  readonly sequence: number
  readonly data: { readonly id?: string }
}

describe("Relay workers", { timeout: 120_000 }, () => {
  let nats: NatsServer
  let service: Service
  let pool: pg.Pool
  let receiver: Receiver
  let tenant: string
  let running: Array<RunningWorker> = []
  beforeAll(async () => {
    nats = await startNatsServer()
    service = await startService({ NATS_URL: nats.url })
    pool = openPool(service.database.url)
  })
  beforeEach(async () => {
    receiver = await startReceiver()
    tenant = await service.newTenant()
    const integrations = integrationClient(service, tenant)
    const { id } = await integrations.mustCreate({
      provider: "WEBHOOK",
      name: "Webhook",
      config: { url: receiver.url }
    })
    await integrations.mustSubscribe(id, { eventType: "client.*" })
  })
  afterEach(async () => {
    await Promise.all(running.map(({ stop }) => stop()))
    running = []
    await receiver.stop()
  })
  afterAll(async () => {
    await pool.end()
    await service.stop()
    await nats.remove()
  })

  const launch = async (name: WorkerName, databaseUrl = service.database.url) => {
    const settings = { ...service.settings, DATABASE_URL: Redacted.make(databaseUrl) }
    const worker = await startWorker({ settings }, name)
    running.push(worker)
    return worker
  }
  const isLeading = ({ lines }: RunningWorker) => lines.some((line) => line.includes('"Leading"'))
  const waitForLeadership = (worker: RunningWorker) => eventually(() => isLeading(worker), "the relay leads")

  const call = async (method: string, path: string, body: object) => {
    const response = await service.api(method, path, { as: "owner", tenant, body })
    assert.include([200, 201], response.status, response.text)
    return String(response.body.data.id)
  }
  /** Creates a client and updates it `changes` times. */
  const writeClient = async (changes = 2) => {
    const id = await call("POST", "/clients", { name: "0" })
    for (let n = 1; n <= changes; n++) await call("PATCH", `/clients/${id}`, { name: `${n}` })
    return id
  }
  const countRows = async (statement: string) =>
    (await pool.query<{ count: number }>(`select count(*)::int from ${statement}`)).rows[0]?.count ?? 0
  const waitForPositions = () =>
    eventually(async () => (await countRows("outbox")) === 0, "every event has a feed position")
  const waitForFanOut = () =>
    eventually(async () => (await countRows("event_feed where not fanned_out")) === 0, "every event is fanned out", 60)
  const waitForDeliveries = (count: number) =>
    eventually(() => receiver.received.length >= count, `${count} deliveries`, 60)

  /** Asserts one position per event, no gaps, and positions of each resource in the order of its events. */
  const assertFeedComplete = async () => {
    await waitForPositions()
    assert.strictEqual(await countRows("event_feed"), await countRows("events"))
    const { rows } = await pool.query<{ first: number; last: number; count: number; given: number }>(
      `select min(position)::int as first, max(position)::int as last, count(distinct event_id)::int,
         (select last from event_positions)::int as given from event_feed`
    )
    const { count, first, given, last } = rows[0] ?? assert.fail("the feed is empty")
    assert.deepStrictEqual([first, last, given], [1, count, count])
    const reordered = `event_feed a join event_feed b using (tenant_id, resource_id)
      where a.position < b.position and a.sequence > b.sequence`
    assert.strictEqual(await countRows(reordered), 0)
  }
  /** Asserts that the receiver got every event of the tenant's clients once, and the events of each client in order. */
  const assertReceivedOnce = async () => {
    const { rows } = await pool.query<{ id: string }>(
      "select id from events where tenant_id = $1 and type like 'client.%' order by resource_id, sequence",
      [tenant]
    )
    const bodies: ReadonlyArray<EventBody> = receiver.received.map(({ text }) => JSON.parse(text))
    assert.sameMembers(
      bodies.map(({ id }) => id),
      rows.map(({ id }) => id)
    )
    const next = new Map<string | undefined, number>()
    for (const { data, sequence } of bodies) {
      assert.strictEqual(sequence, next.get(data.id) ?? 1)
      next.set(data.id, sequence + 1)
    }
  }

  const withConnection = async <A>(use: (connection: NatsConnection) => Promise<A>) => {
    const connection = await connect({ servers: nats.url })
    try {
      return await use(connection)
    } finally {
      await connection.close()
    }
  }
  const eventNames = () => makeNatsNames(service.settings.NATS_NAMESPACE).events
  const deleteStream = () =>
    withConnection(async (connection) => (await connection.jetstreamManager()).streams.delete(eventNames().stream))

  it("take over from each other without skipping or duplicating an event", async () => {
    const first = await launch("relay")
    await waitForLeadership(first)
    const second = await launch("relay")
    await launch("delivery")
    await writeClient()
    assert.isFalse(isLeading(second))
    const writing = Promise.all([writeClient(10), writeClient(10)])
    await first.stop()
    await waitForLeadership(second)
    await writing
    await waitForDeliveries(25)
    await assertFeedComplete()
    await assertReceivedOnce()
  })

  it("take over from a relay that loses its database connection, which does not lead after it reconnects", async () => {
    const proxy = await startProxy(service.database.url)
    const first = await launch("relay", proxy.url)
    await waitForLeadership(first)
    const second = await launch("relay")
    await launch("delivery")
    await writeClient()
    await proxy.disconnect()
    const writing = writeClient(10)
    await waitForLeadership(second)
    await writing
    await proxy.restore()
    await eventually(() => first.lines.some((line) => line.includes("works again")), "the first relay has reconnected")
    await writeClient()
    await waitForDeliveries(17)
    assert.lengthOf(
      first.lines.filter((line) => line.includes('"Leading"')),
      1
    )
    await assertFeedComplete()
    await assertReceivedOnce()
    await first.stop()
    await proxy.stop()
  })

  it("assign feed positions while NATS is down, and publish every event when it is back", async () => {
    await waitForLeadership(await launch("relay"))
    await launch("delivery")
    await writeClient()
    await waitForDeliveries(3)
    await nats.stop()
    await writeClient(4)
    await waitForPositions()
    const feed = await service.api("GET", "/events?type=client.*", { as: "owner", tenant })
    assert.lengthOf(feed.body.data, 8)
    assert.strictEqual(receiver.received.length, 3)
    await nats.start()
    await waitForDeliveries(8)
    await assertFeedComplete()
    await assertReceivedOnce()
  })

  it("publish events again after NATS lost its data", async () => {
    await waitForLeadership(await launch("relay"))
    await writeClient()
    await waitForPositions()
    await nats.stop()
    nats.wipe()
    await nats.start()
    await launch("delivery")
    await waitForDeliveries(3)
    await waitForFanOut()
    await assertReceivedOnce()
  })

  it("recover from a stream that is deleted while relay and delivery workers run", async () => {
    await waitForLeadership(await launch("relay"))
    await launch("delivery")
    await writeClient()
    await waitForDeliveries(3)
    await deleteStream()
    await writeClient()
    await waitForDeliveries(6)
    await waitForFanOut()
    await assertFeedComplete()
    await assertReceivedOnce()
  })

  it("publish the events of a deleted stream again without a new event", async () => {
    await waitForLeadership(await launch("relay"))
    await writeClient()
    await waitForPositions()
    await deleteStream()
    await launch("delivery")
    await waitForDeliveries(3)
    await assertReceivedOnce()
  })

  it("place an event that commits late after the events that overtook it", async () => {
    await waitForLeadership(await launch("relay"))
    await launch("delivery")
    await writeClient()
    const late = await pool.connect()
    const id = makeId("evt")
    try {
      await late.query("begin")
      await late.query(copyEvent, [tenant, id, makeId("clnt")])
      await writeClient()
      await waitForDeliveries(6)
      await late.query("commit")
    } finally {
      late.release()
    }
    await waitForDeliveries(7)
    const feed = await service.api("GET", "/events?type=client.*", { as: "owner", tenant })
    assert.strictEqual(feed.body.data.at(-1).id, id)
    await assertFeedComplete()
    await assertReceivedOnce()
  })

  it("cause no second delivery when they publish a fanned-out event again", async () => {
    await waitForLeadership(await launch("relay"))
    await launch("delivery")
    await writeClient()
    await waitForDeliveries(3)
    await waitForFanOut()
    const [event] = receiver.received.map(({ text }) => JSON.parse(text))
    await withConnection(async (connection) => {
      const jetstream = connection.jetstream()
      const subject = eventNames().subject(tenant, undefined, "client.created")
      for (let n = 0; n < 3; n++) await jetstream.publish(subject, JSON.stringify({ tenant, id: event.id }))
      const { consumers } = await jetstream.jetstreamManager()
      await eventually(async () => {
        const { num_ack_pending, num_pending } = await consumers.info(eventNames().stream, eventNames().fanOutConsumer)
        return num_ack_pending + num_pending === 0
      }, "the repeated messages are processed")
    })
    await writeClient()
    await waitForDeliveries(6)
    assert.strictEqual(await countRows(`deliveries where event_id = '${event.id}'`), 1)
    await assertReceivedOnce()
  })
})

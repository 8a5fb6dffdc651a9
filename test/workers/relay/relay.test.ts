import { Redacted } from "effect"
import { connect, type NatsConnection } from "nats"
import type pg from "pg"
import { afterAll, afterEach, assert, beforeAll, beforeEach, describe, it } from "vitest"
import { makeNatsNames } from "../../../src/layers/nats/NatsNames.ts"
import { makeId } from "../../../src/layers/postgres/IdGenerator.ts"
import type { WorkerName } from "../../../src/workers/registry.ts"
import { integrationClient } from "../../support/fixtures/integrations.ts"
import { openPool } from "../../support/servers/database.ts"
import { type NatsServer, startNatsServer } from "../../support/servers/nats.ts"
import { startProxy } from "../../support/servers/proxy.ts"
import { type Receiver, startReceiver } from "../../support/servers/receiver.ts"
import { type Service, startService } from "../../support/servers/service.ts"
import { eventually, type RunningWorker, startWorker } from "../../support/servers/worker.ts"

/** An event like the first of a tenant's clients, about another client. */
const insert = `insert into events (tenant_id, id, type, resource_id, sequence, occurred_at, data)
  select tenant_id, $2, type, $3, 1, now(), jsonb_set(data::jsonb, '{id}', to_jsonb($3::text))
  from events where tenant_id = $1 and type = 'client.created'`

interface Shown {
  readonly id: string
  readonly sequence: number
  readonly data: { readonly id?: string }
}

describe("relays", { timeout: 120_000 }, () => {
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
    const { id } = await integrations.made({ provider: "WEBHOOK", name: "Hook", config: { url: receiver.url } })
    await integrations.madeSubscription(id, { eventType: "client.*" })
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

  const start = async (name: WorkerName, databaseUrl = service.database.url) => {
    const settings = { ...service.settings, DATABASE_URL: Redacted.make(databaseUrl) }
    const worker = await startWorker({ settings }, name)
    running.push(worker)
    return worker
  }
  const isLeading = ({ lines }: RunningWorker) => lines.some((line) => line.includes('"Leading"'))
  const leads = (worker: RunningWorker) => eventually(() => isLeading(worker), "it leads")

  const call = async (method: string, path: string, body: object) => {
    const answer = await service.api(method, path, { as: "owner", tenant, body })
    assert.include([200, 201], answer.status, answer.text)
    return String(answer.body.data.id)
  }
  /** A client that is changed so often, after it is made. */
  const write = async (changes = 2) => {
    const id = await call("POST", "/clients", { name: "0" })
    for (let n = 1; n <= changes; n++) await call("PATCH", `/clients/${id}`, { name: `${n}` })
    return id
  }
  const numberOf = async (statement: string) =>
    (await pool.query<{ count: number }>(`select count(*)::int from ${statement}`)).rows[0]?.count ?? 0
  const placed = () => eventually(async () => (await numberOf("outbox")) === 0, "all have their places")
  const fannedOut = () =>
    eventually(async () => (await numberOf("event_feed where not fanned_out")) === 0, "all are fanned out", 60)
  const received = (count: number) => eventually(() => receiver.received.length >= count, `${count} deliveries`, 60)

  /** Each event has one place, no place is left out, and places of one resource are in the order of its events. */
  const assertWhole = async () => {
    await placed()
    assert.strictEqual(await numberOf("event_feed"), await numberOf("events"))
    const { rows } = await pool.query<{ first: number; last: number; count: number; given: number }>(
      `select min(position)::int as first, max(position)::int as last, count(distinct event_id)::int,
         (select last from event_positions)::int as given from event_feed`
    )
    const { count, first, given, last } = rows[0] ?? assert.fail("no feed")
    assert.deepStrictEqual([first, last, given], [1, count, count])
    const reordered = `event_feed a join event_feed b using (tenant_id, resource_id)
      where a.position < b.position and a.sequence > b.sequence`
    assert.strictEqual(await numberOf(reordered), 0)
  }
  /** What the receiver got: every event of the tenant's clients once, each client's in order. */
  const assertReceivedOnce = async () => {
    const { rows } = await pool.query<{ id: string }>(
      "select id from events where tenant_id = $1 and type like 'client.%' order by resource_id, sequence",
      [tenant]
    )
    const bodies: ReadonlyArray<Shown> = receiver.received.map(({ text }) => JSON.parse(text))
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

  const withBroker = async <A>(use: (connection: NatsConnection) => Promise<A>) => {
    const connection = await connect({ servers: nats.url })
    try {
      return await use(connection)
    } finally {
      await connection.close()
    }
  }
  const named = () => makeNatsNames(service.settings.NATS_NAMESPACE).events
  const dropStream = () =>
    withBroker(async (connection) => (await connection.jetstreamManager()).streams.delete(named().stream))

  it("take over from each other, and nothing is skipped or doubled", async () => {
    const first = await start("relay")
    await leads(first)
    const second = await start("relay")
    await start("delivery")
    await write()
    assert.isFalse(isLeading(second))
    const writing = Promise.all([write(10), write(10)])
    await first.stop()
    await leads(second)
    await writing
    await received(25)
    await assertWhole()
    await assertReceivedOnce()
  })

  it("take over from one that is cut off from the database, which does not lead when it is back", async () => {
    const proxy = await startProxy(service.database.url)
    const first = await start("relay", proxy.url)
    await leads(first)
    const second = await start("relay")
    await start("delivery")
    await write()
    await proxy.cut()
    const writing = write(10)
    await leads(second)
    await writing
    await proxy.restore()
    await eventually(() => first.lines.some((line) => line.includes("works again")), "the first is back")
    await write()
    await received(17)
    assert.lengthOf(
      first.lines.filter((line) => line.includes('"Leading"')),
      1
    )
    await assertWhole()
    await assertReceivedOnce()
    await first.stop()
    await proxy.stop()
  })

  it("give positions while the broker is away, and publish everything when it is back", async () => {
    await leads(await start("relay"))
    await start("delivery")
    await write()
    await received(3)
    await nats.stop()
    await write(4)
    await placed()
    const feed = await service.api("GET", "/events?type=client.*", { as: "owner", tenant })
    assert.lengthOf(feed.body.data, 8)
    assert.strictEqual(receiver.received.length, 3)
    await nats.start()
    await received(8)
    await assertWhole()
    await assertReceivedOnce()
  })

  it("publish again what a broker that lost everything was given", async () => {
    await leads(await start("relay"))
    await write()
    await placed()
    await nats.stop()
    nats.wipe()
    await nats.start()
    await start("delivery")
    await received(3)
    await fannedOut()
    await assertReceivedOnce()
  })

  it("get over a stream that is deleted while they and the deliveries run", async () => {
    await leads(await start("relay"))
    await start("delivery")
    await write()
    await received(3)
    await dropStream()
    await write()
    await received(6)
    await fannedOut()
    await assertWhole()
    await assertReceivedOnce()
  })

  it("publish again what was in a deleted stream, when nothing else happens", async () => {
    await leads(await start("relay"))
    await write()
    await placed()
    await dropStream()
    await start("delivery")
    await received(3)
    await assertReceivedOnce()
  })

  it("place who commits late behind those who overtook it", async () => {
    await leads(await start("relay"))
    await start("delivery")
    await write()
    const late = await pool.connect()
    const id = makeId("evt")
    try {
      await late.query("begin")
      await late.query(insert, [tenant, id, makeId("clnt")])
      await write()
      await received(6)
      await late.query("commit")
    } finally {
      late.release()
    }
    await received(7)
    const feed = await service.api("GET", "/events?type=client.*", { as: "owner", tenant })
    assert.strictEqual(feed.body.data.at(-1).id, id)
    await assertWhole()
    await assertReceivedOnce()
  })

  it("that publish what was fanned out already cause no second delivery", async () => {
    await leads(await start("relay"))
    await start("delivery")
    await write()
    await received(3)
    await fannedOut()
    const [event] = receiver.received.map(({ text }) => JSON.parse(text))
    await withBroker(async (connection) => {
      const jetstream = connection.jetstream()
      const subject = named().subject(tenant, undefined, "client.created")
      for (let n = 0; n < 3; n++) await jetstream.publish(subject, JSON.stringify({ tenant, id: event.id }))
      const { consumers } = await jetstream.jetstreamManager()
      await eventually(async () => {
        const { num_ack_pending, num_pending } = await consumers.info(named().stream, named().fanOutConsumer)
        return num_ack_pending + num_pending === 0
      }, "the repeated ones are worked through")
    })
    await write()
    await received(6)
    assert.strictEqual(await numberOf(`deliveries where event_id = '${event.id}'`), 1)
    await assertReceivedOnce()
  })
})

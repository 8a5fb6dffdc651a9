import type pg from "pg"
import { assert } from "vitest"
import { eventually } from "../../support/servers/worker.ts"
import { drain } from "./drain.ts"
import { assertReceivedAll, type CommittedEvent, expectedEventsOf } from "./history.ts"
import type { KillableServers } from "./killableServers.ts"
import { readConsumer } from "./natsReader.ts"
import { makeTenantCall, type RetryingCall } from "./retryingClient.ts"
import type { Subscriber, WebhookSubscriber } from "./subscribers.ts"
import type { Workload } from "./workload.ts"

/** Asserts that every write confirmed over HTTP is committed and that no resource was created twice. */
export const assertCommitted = (history: ReadonlyArray<CommittedEvent>, { confirmed }: Workload) => {
  const committed = new Map<string, number>()
  for (const { resource, type } of history) {
    const key = `${resource} ${type}`
    committed.set(key, (committed.get(key) ?? 0) + 1)
  }
  for (const [key, count] of confirmed) assert.isAtLeast(committed.get(key) ?? 0, count, key)
  const filterCreations = (keys: Iterable<string>) =>
    [...keys].filter((key) => /^(clnt|con)_\w+ \w+\.created$/.test(key)).sort()
  assert.deepStrictEqual(filterCreations(committed.keys()), filterCreations(confirmed.keys()))
}

export const assertWebhooks = (
  history: ReadonlyArray<CommittedEvent>,
  { id, receiver, ...subscriber }: WebhookSubscriber
) => {
  const expected = expectedEventsOf(history, { id, ...subscriber })
  const received = receiver.received.map(({ headers, text }) => ({ id: headers["webhook-id"] ?? "", text }))
  assertReceivedAll(id, expected, received)
  assert.deepStrictEqual(
    expected.filter((event) => !receiver.accepted.has(event.id)),
    [],
    `${id} has not accepted every event`
  )
  assert.deepStrictEqual(receiver.signatureErrors, [], `${id}: signatures`)
  return { expected: expected.length, received: received.length }
}

/** Asserts that GET /events, read page by page, lists each event once and the events of each resource in order. */
export const assertFeed = async (history: ReadonlyArray<CommittedEvent>, call: RetryingCall, tenant: string) => {
  const events: Array<{ id: string; sequence: number }> = []
  for (let path: string | undefined = "/api/v1/events?limit=100"; path !== undefined; ) {
    const { body, headers, status, text } = await call("GET", path, { tenant })
    assert.strictEqual(status, 200, text)
    events.push(...body.data)
    path = /^<([^>]+)>; rel="next"$/.exec(headers.get("link") ?? "")?.[1]
  }
  const ids = events.map(({ id }) => id)
  assert.strictEqual(new Set(ids).size, ids.length, "GET /events lists an event twice")
  assertReceivedAll(
    "GET /events",
    history.filter((event) => event.tenant === tenant),
    events.map((event) => ({ id: event.id, text: JSON.stringify(event) }))
  )
}

interface NatsSubscribers {
  readonly call: RetryingCall
  readonly servers: Pick<KillableServers, "natsUrl">
  readonly natsSubscribers: ReadonlyArray<Subscriber>
}

/**
 * Asserts that each consumer holds every event delivered since NATS lost its data, and every expected event after a
 * redelivery.
 */
export const assertNatsConsumers = async (
  { call, natsSubscribers, servers }: NatsSubscribers,
  history: ReadonlyArray<CommittedEvent>,
  pool: pg.Pool,
  dataLostAt: number
) => {
  const redeliver = async (subscriber: Subscriber) => {
    const expected = expectedEventsOf(history, subscriber)
    const before = await readConsumer(servers.natsUrl, subscriber.id)
    const { rows } = await pool.query<{ id: string }>(
      `select event_id as id from deliveries join delivery_attempts on delivery_id = id
       where integration_id = $1 and outcome = 'DELIVERED' and attempted_at > $2`,
      [subscriber.id, new Date(dataLostAt)]
    )
    const stored = new Set(before.map(({ id }) => id))
    assert.deepStrictEqual(
      rows.filter(({ id }) => !stored.has(id)),
      [],
      `${subscriber.id}: recorded as delivered but not stored`
    )
    const callTenant = makeTenantCall(call, subscriber.tenant)
    const body = { since: new Date(0).toISOString() }
    const redelivery = await callTenant("POST", `/integrations/${subscriber.id}/redeliver`, body)
    if (redelivery.isComplete) assert.strictEqual(redelivery.redelivered, expected.length)
    return { subscriber, expected, before }
  }

  const redelivered = await Promise.all(natsSubscribers.map(redeliver))
  const areRedeliveriesDone = async () => (await pool.query("select 1 from redeliveries")).rows.length === 0
  await eventually(areRedeliveriesDone, "the redeliveries are complete")
  await drain(pool)
  return Promise.all(
    redelivered.map(async ({ before, expected, subscriber }) => {
      const after = await readConsumer(servers.natsUrl, subscriber.id)
      const texts = assertReceivedAll(subscriber.id, expected, after)
      for (const { id, text } of before) assert.strictEqual(text, texts.get(id))
      return { expected: expected.length, received: after.length }
    })
  )
}

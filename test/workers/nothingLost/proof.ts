import type pg from "pg"
import { assert } from "vitest"
import { eventually } from "../../support/servers/worker.ts"
import type { Listener, WebhookListener } from "./audience.ts"
import { type Call, callIn } from "./caller.ts"
import { drain } from "./drain.ts"
import { assertToldAll, type Committed, meantFor } from "./history.ts"
import type { KillableServers } from "./killableServers.ts"
import { readConsumer } from "./natsReader.ts"
import type { Writer } from "./writer.ts"

/** What was promised over HTTP was committed, and nothing was created twice. */
export const assertKept = (history: ReadonlyArray<Committed>, { promised }: Writer) => {
  const committed = new Map<string, number>()
  for (const { resource, type } of history) {
    const key = `${resource} ${type}`
    committed.set(key, (committed.get(key) ?? 0) + 1)
  }
  for (const [key, times] of promised) assert.isAtLeast(committed.get(key) ?? 0, times, key)
  const creations = (keys: Iterable<string>) =>
    [...keys].filter((key) => /^(clnt|con)_\w+ \w+\.created$/.test(key)).sort()
  assert.deepStrictEqual(creations(committed.keys()), creations(promised.keys()))
}

export const assertWebhooks = (history: ReadonlyArray<Committed>, { id, receiver, ...listener }: WebhookListener) => {
  const meant = meantFor(history, { id, ...listener })
  const told = receiver.received.map(({ headers, text }) => ({ id: headers["webhook-id"] ?? "", text }))
  assertToldAll(id, meant, told)
  assert.deepStrictEqual(
    meant.filter((event) => !receiver.accepted.has(event.id)),
    [],
    `${id} accepted not all`
  )
  assert.deepStrictEqual(receiver.forged, [], `${id}: signatures`)
  return { meant: meant.length, received: told.length }
}

/** The feed from its start to its end holds each event once, those of a resource in their order. */
export const assertFeed = async (history: ReadonlyArray<Committed>, call: Call, tenant: string) => {
  const read: Array<{ id: string; sequence: number }> = []
  for (let path: string | undefined = "/api/v1/events?limit=100"; path !== undefined; ) {
    const { body, headers, status, text } = await call("GET", path, { tenant })
    assert.strictEqual(status, 200, text)
    read.push(...body.data)
    path = /^<([^>]+)>; rel="next"$/.exec(headers.get("link") ?? "")?.[1]
  }
  const ids = read.map(({ id }) => id)
  assert.strictEqual(new Set(ids).size, ids.length, "the feed shows an event twice")
  assertToldAll(
    "the feed",
    history.filter((event) => event.tenant === tenant),
    read.map((event) => ({ id: event.id, text: JSON.stringify(event) }))
  )
}

interface Streaming {
  readonly call: Call
  readonly servers: Pick<KillableServers, "natsUrl">
  readonly streams: ReadonlyArray<Listener>
}

/** What was sent since the broker lost everything is there; sent again, all is. */
export const assertStream = async (
  { call, servers, streams }: Streaming,
  history: ReadonlyArray<Committed>,
  pool: pg.Pool,
  emptiedAt: number
) => {
  const figures: Array<{ meant: number; received: number }> = []
  for (const listener of streams) {
    const meant = meantFor(history, listener)
    const before = await readConsumer(servers.natsUrl, listener.id)
    const { rows } = await pool.query<{ id: string }>(
      `select event_id as id from deliveries join delivery_attempts on delivery_id = id
       where integration_id = $1 and outcome = 'DELIVERED' and attempted_at > $2`,
      [listener.id, new Date(emptiedAt)]
    )
    const there = new Set(before.map(({ id }) => id))
    assert.deepStrictEqual(
      rows.filter(({ id }) => !there.has(id)),
      [],
      `${listener.id}: stored and gone`
    )
    const redelivery = { since: new Date(0).toISOString() }
    const again = await callIn(call, listener.tenant)("POST", `/integrations/${listener.id}/redeliver`, redelivery)
    if (again.isComplete) assert.strictEqual(again.redelivered, meant.length)
    const isPutBack = async () => (await pool.query("select 1 from redeliveries")).rows.length === 0
    await eventually(isPutBack, "everything is put back")
    await drain(pool)
    const after = await readConsumer(servers.natsUrl, listener.id)
    const texts = assertToldAll(listener.id, meant, after)
    for (const { id, text } of before) assert.strictEqual(text, texts.get(id))
    figures.push({ meant: meant.length, received: after.length })
  }
  return figures
}

import { connect } from "nats"
import type pg from "pg"
import { assert, describe, inject, it } from "vitest"
import { makeNatsNames } from "../../../src/layers/infra/nats/NatsNames.ts"
import { makeId } from "../../../src/layers/infra/postgres/IdGenerator.ts"
import { insertTenant } from "../../support/fixtures/dueDeliveries.ts"
import { makeReadGate } from "../../support/fixtures/tableGate.ts"
import { isClusterRun, untilAnswered } from "../../support/servers/natsCluster.ts"
import { startServiceWithPool } from "../../support/servers/serviceWithPool.ts"
import { eventually, startWorker } from "../../support/servers/worker.ts"

const type = "client.created"

/** Several batches of the relay. */
const backlog = 3000

/** Inserts events of one tenant that have feed positions and were never published. */
const insertBacklog = async (pool: pg.Pool) => {
  const tenant = await insertTenant(pool)
  await pool.query(
    `insert into events (tenant_id, id, type, resource_id, sequence, occurred_at, data)
     select $1, 'evt_' || n, $2, 'clnt_' || n, 1, now(), '{}' from generate_series(1, $3::int) n`,
    [tenant, type, backlog]
  )
  await pool.query("delete from outbox")
  await pool.query(
    `insert into event_feed (tenant_id, position, event_id, resource_id, sequence, type)
     select tenant_id, row_number() over (order by id), id, resource_id, sequence, type from events`
  )
  await pool.query("update event_positions set last = $1", [backlog])
}

const insertEvent = async (pool: pg.Pool) => {
  const tenant = await insertTenant(pool)
  await pool.query(
    `insert into events (tenant_id, id, type, resource_id, sequence, occurred_at, data)
     values ($1, $2, $3, $4, 1, now(), '{}')`,
    [tenant, makeId("evt"), type, makeId("clnt")]
  )
  return tenant
}

/** Inserts an event while the relay reads a backlog of another tenant. Returns its place in the stream. */
const publishDuringBacklog = async () => {
  const { pool, service, stop } = await startServiceWithPool({})
  await insertBacklog(pool)
  const gate = await makeReadGate(pool, "event_feed")
  await gate.close()
  const relay = await startWorker(service, "relay")
  const connection = await connect({ servers: inject("natsUrl").split(",") })
  try {
    // The relay has looked for new events and now reads the first batch of the backlog.
    await gate.untilWaiting(1)
    const tenant = await insertEvent(pool)
    await gate.open()
    const { events } = makeNatsNames(service.settings.NATS_NAMESPACE)
    const { streams } = await untilAnswered(() => connection.jetstreamManager())
    await eventually(
      async () => (await untilAnswered(() => streams.info(events.stream))).state.messages === backlog + 1,
      "every event is published"
    )
    const newest = { last_by_subj: events.subject(tenant, undefined, type) }
    return (await untilAnswered(() => streams.getMessage(events.stream, newest))).seq
  } finally {
    await gate.open()
    await connection.close()
    await relay.stop()
    await stop()
  }
}

// A server that is killed meanwhile makes the relay publish all again, oldest first.
const retry = isClusterRun ? 2 : 0

describe("A relay with a backlog", () => {
  it("publishes a new event of one tenant before the backlog of another tenant", { retry }, async () => {
    assert.isBelow(await publishDuringBacklog(), backlog / 2)
  })
})

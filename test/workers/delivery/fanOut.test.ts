import { type Duration, Effect, Exit, Layer, Logger, Scope } from "effect"
import { assert, describe, it } from "vitest"
import { FanOut, type FanOutLimits } from "../../../src/layers/delivery/FanOut.ts"
import { Settings } from "../../../src/layers/infra/config/Settings.ts"
import { Broker } from "../../../src/layers/infra/nats/Broker.ts"
import { SqlLive } from "../../../src/layers/infra/postgres/connection/PostgresClient.ts"
import { startFanOutConsumer } from "../../../src/workers/delivery/FanOutConsumer.ts"
import { makeWakeSignal } from "../../../src/workers/WakeSignal.ts"
import { insertEventRow, insertIntegration } from "../../support/fixtures/deliveryRows.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import type { Service } from "../../support/servers/service.ts"
import { startServiceWithPool } from "../../support/servers/serviceWithPool.ts"
import { eventually, startWorker } from "../../support/servers/worker.ts"

/** Starts only the fan-out consumer. */
const startFanOut = async (
  { settings }: Pick<Service, "settings">,
  limits: FanOutLimits,
  sweepInterval?: Duration.DurationInput
) => {
  const scope = Effect.runSync(Scope.make())
  const live = Layer.scopedDiscard(
    Effect.flatMap(makeWakeSignal, (signal) => startFanOutConsumer(signal, limits, sweepInterval))
  ).pipe(
    Layer.provide([FanOut.Default, Broker.Default]),
    Layer.provide(SqlLive),
    Layer.provide(Layer.succeed(Settings, settings)),
    Layer.provide([Logger.remove(Logger.defaultLogger), Layer.setTracerEnabled(false)])
  )
  await Effect.runPromise(Layer.buildWithScope(live, scope))
  return { stop: () => Effect.runPromise(Scope.close(scope, Exit.void)) }
}

describe("The fan-out consumer", () => {
  const at = useFixture(async () => {
    const started = await startServiceWithPool({})
    const relay = await startWorker(started.service, "relay")
    const stop = async () => {
      await relay.stop()
      await started.stop()
    }
    return { ...started, stop }
  })

  const countRows = async (text: string, ...values: ReadonlyArray<string>) => {
    const { rows } = await at().pool.query<{ count: number }>(text, [...values])
    return rows[0]?.count ?? 0
  }
  const countDeliveries = (tenant: string) =>
    countRows("select count(*)::int from deliveries where tenant_id = $1", tenant)
  const countWaiting = (tenant: string) =>
    countRows("select count(*)::int from event_feed where tenant_id = $1 and not fanned_out", tenant)

  const createTenant = async (integrations: number) => {
    const tenant = await at().service.newTenant()
    for (let n = 0; n < integrations; n++) await insertIntegration(at().pool, tenant)
    return tenant
  }

  /** Inserts events of different clients in one transaction. */
  const addEvents = async (tenant: string, count: number) => {
    await at().pool.query(
      `insert into events (tenant_id, id, type, resource_id, sequence, occurred_at, data)
       select $1, 'evt_' || $3::text || n, 'client.created', 'clnt_' || $3::text || n, 1, now(), '{}'
       from generate_series(1, $2::int) n`,
      [tenant, count, Math.random().toString(36).slice(2)]
    )
    await eventually(
      async () => (await countRows("select count(*)::int from outbox where tenant_id = $1", tenant)) === 0,
      "the relay has assigned their positions"
    )
  }

  it("fans out a small tenant's events during the backlog of a large tenant, and loses none across a restart", {
    timeout: 90_000
  }, async () => {
    const [large, small] = [await createTenant(10), await createTenant(1)]
    // So many transactions that the backlog outlasts the next search for events in the database, also on a fast machine.
    const limits = { maxEvents: 20, maxDeliveries: 4 }
    await addEvents(large, 450)
    const first = await startFanOut(at().service, limits)
    await eventually(async () => (await countDeliveries(large)) > 0, "the fan-out of the backlog has started")
    await addEvents(small, 3)
    await eventually(async () => (await countDeliveries(small)) === 3, "the events of the small tenant are fanned out")
    assert.isAbove(await countWaiting(large), 0, "the backlog is not finished yet")
    await first.stop()
    const left = await countWaiting(large)
    assert.isAbove(left, 0, "the consumer stops before the end of the backlog")
    const second = await startFanOut(at().service, { maxEvents: 200, maxDeliveries: 500 })
    await eventually(async () => (await countWaiting(large)) === 0, "the rest of the backlog is fanned out", 60)
    await second.stop()
    assert.strictEqual(await countDeliveries(large), 4500)
  })

  it("continues past an event that fails, and fans it out once it succeeds", { timeout: 90_000 }, async () => {
    const [mine, other] = [await createTenant(1), await createTenant(1)]
    await at().pool.query(`
      create function refuse() returns trigger language plpgsql as $$ begin raise 'poison'; end $$;
      create trigger refuse before insert on deliveries for each row
        when (new.resource_id = 'clnt_poison') execute function refuse()`)
    await at().pool.query(
      `insert into events (tenant_id, id, type, resource_id, sequence, occurred_at, data)
       select $1, 'evt_poison' || n, 'client.updated', 'clnt_poison', n, now(), '{}' from generate_series(1, 2) n`,
      [mine]
    )
    await addEvents(mine, 30)
    await addEvents(other, 30)
    const worker = await startFanOut(at().service, { maxEvents: 100, maxDeliveries: 100 })
    await eventually(
      async () => (await countDeliveries(mine)) + (await countDeliveries(other)) === 60,
      "all other events are fanned out"
    )
    await eventually(
      async () => (await countWaiting(mine)) === 2 && (await countWaiting(other)) === 0,
      "only the failing events wait"
    )
    await at().pool.query("drop trigger refuse on deliveries")
    await eventually(async () => (await countWaiting(mine)) === 0, "the failing events are fanned out", 60)
    await worker.stop()
    const { rows } = await at().pool.query(
      "select sequence, status from deliveries where tenant_id = $1 and resource_id = 'clnt_poison' order by 1",
      [mine]
    )
    assert.deepStrictEqual(rows, [
      { sequence: 1, status: "PENDING" },
      { sequence: 2, status: "WAITING" }
    ])
  })

  it("reads new events from the database while the broker is away, before the next sweep", async () => {
    const tenant = await createTenant(1)
    const { settings } = at().service
    const limits = { maxEvents: 100, maxDeliveries: 100 }
    const worker = await startFanOut({ settings: { ...settings, NATS_URL: ["nats://127.0.0.1:1"] } }, limits, "1 hour")
    for (const count of [1, 2, 3]) {
      await insertEventRow(at().pool, tenant, { fannedOut: false })
      await eventually(async () => (await countDeliveries(tenant)) === count, `event ${count} is fanned out`)
    }
    await worker.stop()
  })
})

import { Effect, Exit, Layer, Logger, Scope } from "effect"
import { assert, describe, it } from "vitest"
import { Settings } from "../../../src/layers/config/Settings.ts"
import { FanOut, type FanOutLimits } from "../../../src/layers/delivery/FanOut.ts"
import { Broker } from "../../../src/layers/nats/Broker.ts"
import { SqlLive } from "../../../src/layers/postgres/connection/PostgresClient.ts"
import { startFanOutConsumer } from "../../../src/workers/delivery/FanOutConsumer.ts"
import { makeWakeSignal } from "../../../src/workers/WakeSignal.ts"
import { insertIntegration } from "../../support/fixtures/deliveryRows.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import type { Service } from "../../support/servers/service.ts"
import { startServiceWithPool } from "../../support/servers/serviceWithPool.ts"
import { eventually, startWorker } from "../../support/servers/worker.ts"

/** Nothing but the fan-out, with limits of its own. */
const startFanOut = async ({ settings }: Service, limits: FanOutLimits) => {
  const scope = Effect.runSync(Scope.make())
  const live = Layer.scopedDiscard(Effect.flatMap(makeWakeSignal, (bell) => startFanOutConsumer(bell, limits))).pipe(
    Layer.provide([FanOut.Default, Broker.Default]),
    Layer.provide(SqlLive),
    Layer.provide(Layer.succeed(Settings, settings)),
    Layer.provide([Logger.remove(Logger.defaultLogger), Layer.setTracerEnabled(false)])
  )
  await Effect.runPromise(Layer.buildWithScope(live, scope))
  return { stop: () => Effect.runPromise(Scope.close(scope, Exit.void)) }
}

describe("the fan-out worker", () => {
  const at = useFixture(async () => {
    const started = await startServiceWithPool()
    const relay = await startWorker(started.service, "relay")
    const stop = async () => {
      await relay.stop()
      await started.stop()
    }
    return { ...started, stop }
  })

  const numberOf = async (text: string, ...values: ReadonlyArray<string>) => {
    const { rows } = await at().pool.query<{ count: number }>(text, [...values])
    return rows[0]?.count ?? 0
  }
  const delivered = (tenant: string) => numberOf("select count(*)::int from deliveries where tenant_id = $1", tenant)
  const waiting = (tenant: string) =>
    numberOf("select count(*)::int from event_feed where tenant_id = $1 and not fanned_out", tenant)

  const tenantWith = async (integrations: number) => {
    const tenant = await at().service.newTenant()
    for (let n = 0; n < integrations; n++) await insertIntegration(at().pool, tenant)
    return tenant
  }

  /** So many events at once, each of a client of its own. */
  const addEvents = async (tenant: string, count: number) => {
    await at().pool.query(
      `insert into events (tenant_id, id, type, resource_id, sequence, occurred_at, data)
       select $1, 'evt_' || $3::text || n, 'client.created', 'clnt_' || $3::text || n, 1, now(), '{}'
       from generate_series(1, $2::int) n`,
      [tenant, count, Math.random().toString(36).slice(2)]
    )
    await eventually(
      async () => (await numberOf("select count(*)::int from outbox where tenant_id = $1", tenant)) === 0,
      "the relay has placed them"
    )
  }

  it("lets nobody wait for the flood of another, and loses nothing of it when it is stopped and started anew", {
    timeout: 90_000
  }, async () => {
    const [large, small] = [await tenantWith(10), await tenantWith(1)]
    const limits = { maxEvents: 20, maxDeliveries: 20 }
    await addEvents(large, 450)
    const first = await startFanOut(at().service, limits)
    await eventually(async () => (await delivered(large)) > 0, "the flood is under way")
    await addEvents(small, 3)
    await eventually(async () => (await delivered(small)) === 3, "the others are told")
    assert.isAbove(await waiting(large), 0, "while the flood goes on")
    await first.stop()
    const left = await waiting(large)
    assert.isAbove(left, 0, "it is stopped on the way")
    const second = await startFanOut(at().service, { maxEvents: 200, maxDeliveries: 500 })
    await eventually(async () => (await waiting(large)) === 0, "the rest is told", 60)
    await second.stop()
    assert.strictEqual(await delivered(large), 4500)
  })

  it("stops for no event that cannot be entered, and enters it when it can be", { timeout: 90_000 }, async () => {
    const [mine, other] = [await tenantWith(1), await tenantWith(1)]
    await at().pool.query(`
      create function refuse() returns trigger language plpgsql as $$ begin raise 'poison'; end $$;
      create trigger refuse before insert on deliveries for each row when (new.resource_id = 'clnt_poison') execute function refuse()`)
    await at().pool.query(
      `insert into events (tenant_id, id, type, resource_id, sequence, occurred_at, data)
       select $1, 'evt_poison' || n, 'client.updated', 'clnt_poison', n, now(), '{}' from generate_series(1, 2) n`,
      [mine]
    )
    await addEvents(mine, 30)
    await addEvents(other, 30)
    const worker = await startFanOut(at().service, { maxEvents: 100, maxDeliveries: 100 })
    await eventually(async () => (await delivered(mine)) + (await delivered(other)) === 60, "all others are told")
    await eventually(async () => (await waiting(mine)) === 2 && (await waiting(other)) === 0, "none but these wait")
    await at().pool.query("drop trigger refuse on deliveries")
    await eventually(async () => (await waiting(mine)) === 0, "and these in the end", 60)
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
})

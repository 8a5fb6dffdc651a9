import { afterEach, assert, beforeAll, describe, it } from "vitest"
import { bundleApi } from "../../support/servers/apiProcesses.ts"
import { openPool } from "../../support/servers/database.ts"
import { listenByNats, listenByWebhook, moods } from "./audience.ts"
import { type Call, makeCaller } from "./caller.ts"
import { drain } from "./drain.ts"
import { startFleet } from "./fleet.ts"
import { readHistory } from "./history.ts"
import { startKillableServers } from "./killableServers.ts"
import { killAtRandom } from "./killer.ts"
import { assertFeed, assertKept, assertStream, assertWebhooks } from "./proof.ts"
import { asked, say } from "./say.ts"
import { makeWriter, type Writer } from "./writer.ts"

const count = Number(asked ?? 2000)
const rounds = Math.max(3, Math.round(count / 1600))

describe("whatever is killed", { timeout: 300_000 + count * 60 }, () => {
  const endings: Array<() => Promise<unknown>> = []
  const atTheEnd = (ending: () => Promise<unknown>) => void endings.push(ending)
  beforeAll(bundleApi)
  afterEach(async () => {
    for (const ending of endings.splice(0).reverse()) await ending()
  })

  const listening = async (...args: Parameters<typeof listenByWebhook>) => {
    const listener = await listenByWebhook(...args)
    atTheEnd(listener.receiver.stop)
    return listener
  }

  /** Two tenants with a client each that everybody changes, and all who want to be told. */
  const gather = async (call: Call, writer: Writer) => {
    const found = async (name: string) => {
      const { body } = await call("POST", "/api/v1/tenants", { body: { name } })
      const tenant = String(body.data.id)
      return { tenant, shared: await writer.create(tenant, "client", { name }) }
    }
    const [one, other] = [await found("One"), await found("Other")]
    const hooks = [
      await listening(call, one.tenant, moods.well, [{ eventType: "client.*" }, { eventType: "contact.*" }]),
      await listening(call, one.tenant, moods.refusing, [{ eventType: "client.updated" }]),
      await listening(call, one.tenant, moods.droppingOut, [{ eventType: "client.*", clientId: one.shared }]),
      await listening(call, other.tenant, moods.droppingOut, [
        { eventType: "contact.*" },
        { eventType: "client.deleted" }
      ])
    ]
    const streams = [
      await listenByNats(call, one.tenant, [{ eventType: "client.*" }, { eventType: "contact.created" }]),
      await listenByNats(call, other.tenant, [{ eventType: "client.*" }, { eventType: "contact.*" }])
    ]
    return { tenants: [one, other], hooks, streams }
  }

  const start = async () => {
    const servers = await startKillableServers()
    atTheEnd(servers.stop)
    const fleet = await startFleet(servers)
    atTheEnd(fleet.stop)
    const apis = [await fleet.addApi("api-1"), await fleet.addApi("api-2")]
    const call = makeCaller(
      apis.map(({ url }) => url),
      await fleet.token("owner")
    )
    const writer = makeWriter(call)
    // Nobody works on events before all who want to be told of them have said so.
    const audience = await gather(call, writer)
    const workers = ["relay-1", "relay-2", "delivery-1", "delivery-2"].map((name) => ({
      name,
      line: name,
      kill: fleet.add({ name, args: ["worker", name.slice(0, -2)] })
    }))
    return { servers, fleet, apis, workers, call, writer, ...audience }
  }

  type Running = Awaited<ReturnType<typeof start>>

  /** Writes while all else is killed. Tells when the broker had lost everything. */
  const rage = async ({ apis, servers, tenants, workers, writer }: Running) => {
    let emptiedAt = 0
    const nats = { name: "nats", line: "nats", kill: (down: number) => servers.kill("nats", down) }
    const once = {
      name: "natsWithItsData",
      line: "nats",
      kill: async (down: number) => {
        await servers.kill("natsWithItsData", down)
        emptiedAt = Date.now()
      }
    }
    const targets = [
      ...apis.map(({ kill }, n) => ({ name: `api-${n + 1}`, line: `api-${n + 1}`, kill })),
      ...workers,
      nats,
      { name: "postgres", line: "postgres", kill: (down: number) => servers.kill("postgres", down) }
    ]
    const killer = killAtRandom({ targets, rounds, once }, () => writer.written() / count)
    const told = () => [...killer.kills].map(([name, kills]) => `${name} ${kills}`).join(", ")
    const progress = setInterval(() => say(`${writer.written()} events; killed: ${told()}`), 5000)
    try {
      await Promise.all([writer.writeUntil(count, tenants, 4), killer.done])
    } finally {
      clearInterval(progress)
      await killer.stop()
    }
    say(`${writer.written()} events; killed: ${told()}`)
    return { emptiedAt, kills: killer.kills, targets }
  }

  it(`each of ${count} events reaches everybody it is for, in order`, async () => {
    const began = Date.now()
    const running = await start()
    const { emptiedAt, kills, targets } = await rage(running)
    for (const { receiver } of running.hooks) receiver.recover()
    const pool = openPool(running.servers.databaseUrl)
    atTheEnd(() => pool.end())
    await drain(pool)
    const history = await readHistory(pool)
    assert.isAtLeast(history.length, count)
    assertKept(history, running.writer)
    const hooks = running.hooks.map((listener) => assertWebhooks(history, listener))
    for (const { tenant } of running.tenants) await assertFeed(history, running.call, tenant)
    const streams = await assertStream(running, history, pool, emptiedAt)
    assert.deepStrictEqual(running.fleet.diedAlone, [], "these ended though nobody killed them")
    for (const { name } of targets) assert.strictEqual(kills.get(name), rounds, name)
    const seconds = Math.round((Date.now() - began) / 1000)
    say(JSON.stringify({ events: history.length, hooks, streams, kills: Object.fromEntries(kills), seconds }))
  })
})

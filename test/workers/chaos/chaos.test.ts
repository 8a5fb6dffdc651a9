import { afterEach, assert, beforeAll, describe, it } from "vitest"
import { caseCount } from "../../support/caseCount.ts"
import { bundleApi } from "../../support/servers/apiProcesses.ts"
import { openPool } from "../../support/servers/database.ts"
import { assertCommitted, assertFeed, assertNatsConsumers, assertWebhooks } from "./assertions.ts"
import { killAtRandom } from "./chaosMonkey.ts"
import { drain } from "./drain.ts"
import { readHistory } from "./history.ts"
import { startKillableServers } from "./killableServers.ts"
import { makeProcesses } from "./processes.ts"
import { logProgress, requestedEvents } from "./progress.ts"
import { makeRetryingCall, type RetryingCall } from "./retryingClient.ts"
import { failureModes, subscribeByNats, subscribeByWebhook } from "./subscribers.ts"
import { makeWorkload, type Workload } from "./workload.ts"

// `npm test` kills every process and server once; `npm run chaos` kills each many times.
const count = Number(requestedEvents ?? caseCount(200, 500))
const rounds = requestedEvents === undefined ? 1 : Math.max(3, Math.round(count / 1600))

describe("Event delivery under random kills of every process, PostgreSQL and NATS", {
  timeout: 300_000 + count * 60
}, () => {
  const cleanups: Array<() => Promise<unknown>> = []
  const onCleanup = (cleanup: () => Promise<unknown>) => void cleanups.push(cleanup)
  beforeAll(bundleApi)
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  })

  const subscribe = async (...args: Parameters<typeof subscribeByWebhook>) => {
    const subscriber = await subscribeByWebhook(...args)
    onCleanup(subscriber.receiver.stop)
    return subscriber
  }

  /** Two tenants, each with a client that all of its writers change, and with subscribers. */
  const createTenants = async (call: RetryingCall, workload: Workload) => {
    const createTenant = async (name: string) => {
      const { body } = await call("POST", "/api/v1/tenants", { body: { name } })
      const tenant = String(body.data.id)
      return { tenant, sharedClient: await workload.create(tenant, "client", { name }) }
    }
    const [one, other] = [await createTenant("One"), await createTenant("Other")]
    const { droppedConnection, none, status500 } = failureModes
    const webhookSubscribers = [
      await subscribe(call, one.tenant, none, [{ eventType: "client.*" }, { eventType: "contact.*" }]),
      await subscribe(call, one.tenant, status500, [{ eventType: "client.updated" }]),
      await subscribe(call, one.tenant, droppedConnection, [{ eventType: "client.*", clientId: one.sharedClient }]),
      await subscribe(call, other.tenant, droppedConnection, [
        { eventType: "contact.*" },
        { eventType: "client.deleted" }
      ])
    ]
    const natsSubscribers = [
      await subscribeByNats(call, one.tenant, [{ eventType: "client.*" }, { eventType: "contact.created" }]),
      await subscribeByNats(call, other.tenant, [{ eventType: "client.*" }, { eventType: "contact.*" }])
    ]
    return { tenants: [one, other], webhookSubscribers, natsSubscribers }
  }

  const start = async () => {
    const servers = await startKillableServers()
    onCleanup(servers.stop)
    const processes = makeProcesses(servers)
    onCleanup(processes.stop)
    const apis = await Promise.all([processes.addApi("api-1"), processes.addApi("api-2")])
    const call = makeRetryingCall(
      apis.map(({ url }) => url),
      await processes.token("owner")
    )
    const workload = makeWorkload(call)
    // The workers start after every subscription exists, so that no event is fanned out without it.
    const created = await createTenants(call, workload)
    const workers = ["relay-1", "relay-2", "delivery-1", "delivery-2"].map((name) => ({
      name,
      key: name,
      kill: processes.add({ name, args: ["worker", name.slice(0, -2)] })
    }))
    return { servers, processes, apis, workers, call, workload, ...created }
  }

  type Running = Awaited<ReturnType<typeof start>>

  /** Writes while everything is killed. `dataLostAt` is the time when NATS lost its data. */
  const writeUnderKills = async ({ apis, servers, tenants, workers, workload }: Running) => {
    let dataLostAt = 0
    const natsWithItsData = {
      name: "natsWithItsData",
      key: "nats",
      kill: async (downMillis: number) => {
        await servers.kill("natsWithItsData", downMillis)
        // The others of a cluster keep the data.
        if (!servers.natsUrl.includes(",")) dataLostAt = Date.now()
      }
    }
    const targets = [
      ...apis.map(({ kill }, n) => ({ name: `api-${n + 1}`, key: `api-${n + 1}`, kill })),
      ...workers,
      { name: "nats", key: "nats", kill: (downMillis: number) => servers.kill("nats", downMillis) },
      { name: "postgres", key: "postgres", kill: (downMillis: number) => servers.kill("postgres", downMillis) }
    ]
    const monkey = killAtRandom({ targets, rounds, once: natsWithItsData }, () => workload.countWritten() / count)
    const logKills = () => {
      const kills = [...monkey.kills].map(([name, kills]) => `${name} ${kills}`).join(", ")
      logProgress(`${workload.countWritten()} events; killed: ${kills}`)
    }
    const timer = setInterval(logKills, 5000)
    try {
      await Promise.all([workload.writeUntil(count, tenants, 4), monkey.done])
    } finally {
      clearInterval(timer)
      await monkey.stop()
    }
    logKills()
    const expectedKills = { ...Object.fromEntries(targets.map(({ name }) => [name, rounds])), natsWithItsData: 1 }
    assert.deepStrictEqual(Object.fromEntries(monkey.kills), expectedKills)
    return { dataLostAt, kills: expectedKills }
  }

  it("delivers every committed event to every subscriber in order", async () => {
    const startedAt = Date.now()
    const running = await start()
    const { dataLostAt, kills } = await writeUnderKills(running)
    for (const { receiver } of running.webhookSubscribers) receiver.stopFailing()
    const pool = openPool(running.servers.databaseUrl)
    onCleanup(() => pool.end())
    await drain(pool)
    const history = await readHistory(pool)
    assert.isAtLeast(history.length, count)
    assertCommitted(history, running.workload)
    const webhooks = running.webhookSubscribers.map((subscriber) => assertWebhooks(history, subscriber))
    for (const { tenant } of running.tenants) await assertFeed(history, running.call, tenant)
    const consumers = await assertNatsConsumers(running, history, pool, dataLostAt)
    assert.deepStrictEqual(running.processes.unexpectedExits, [], "processes that exited without being killed")
    const seconds = Math.round((Date.now() - startedAt) / 1000)
    logProgress(JSON.stringify({ events: history.length, webhooks, consumers, kills, seconds }))
  })
})

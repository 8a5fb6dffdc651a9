import { setTimeout as pause } from "node:timers/promises"
import { connect } from "nats"
import { ensure, type Stage, waitFor } from "./stage.ts"
import { type Arrivals, ensureAllArrived, subscribeByNats, subscribeByWebhook } from "./subscribers.ts"
import { openTenant, startWriting, type Writing } from "./writes.ts"

const writesPerSecond = 20
const betweenMs = 5000
const stoppedMs = 8000
const worstAllowedMs = 15_000

/** The longest time from the response of a write to the arrival of its event, for writes of a period. */
const worstArrival = (writing: Writing, arrivals: Arrivals, from: number, to: number) =>
  Math.max(
    0,
    ...writing
      .created()
      .filter(({ answeredAt }) => answeredAt >= from && answeredAt < to)
      .map(({ answeredAt, id = "" }) => (arrivals.get(id) ?? Number.POSITIVE_INFINITY) - answeredAt)
  )

/** Whether every server has every stream of the cluster, and every stream and consumer has a leader. */
const makeHealthCheck = async (natsUrl: string, size: number) => {
  const connection = await connect({ servers: natsUrl.split(","), maxReconnectAttempts: -1, reconnectTimeWait: 200 })
  const isHealthy = async () => {
    const manager = await connection.jetstreamManager()
    for (const { cluster, config } of await manager.streams.list().next()) {
      const consumers = await manager.consumers.list(config.name).next()
      const current = cluster?.replicas?.filter(({ current, offline }) => current && offline !== true) ?? []
      const groups = [cluster, ...consumers.map((consumer) => consumer.cluster)]
      if (current.length !== size - 1 || groups.some((group) => (group?.leader ?? "") === "")) return false
    }
    return true
  }
  return { isHealthy: () => isHealthy().catch(() => false), close: () => connection.close() }
}

/**
 * Kills every server of a NATS cluster in turn, freezes one, and then takes away the majority, under load. Every event
 * has to arrive by webhook and over NATS.
 */
export const loseBroker = async (stage: Stage) => {
  const postgres = await stage.postgres("postgres")
  const { nodes, settings } = await stage.natsCluster()
  const all = { DATABASE_URL: postgres.url, ...settings }
  const api = await stage.service("api", ["api"], all)
  for (const name of ["relay-1", "relay-2", "delivery-1", "delivery-2"])
    await stage.service(name, ["worker", name.slice(0, -2)], all)
  const { call } = await openTenant({ urls: [api.url], token: await stage.token("owner") })
  const webhook = await subscribeByWebhook(call)
  const nats = await subscribeByNats(call, settings.NATS_URL)
  const writing = startWriting(call, writesPerSecond)
  await pause(2000)

  const haveAllArrived = () =>
    writing.created().every(({ id = "" }) => webhook.arrivals.has(id) && nats.arrivals.has(id))
  const health = await makeHealthCheck(settings.NATS_URL, nodes.length)
  /** The next server fails when the cluster has recovered from the one before, and no event is late any more. */
  const recover = async () => {
    await pause(betweenMs)
    await waitFor("the NATS cluster has recovered", health.isHealthy)
    await waitFor("the events of the outage have arrived", haveAllArrived)
  }
  const periods: Array<readonly [string, number]> = []
  const begin = (what: string) => void periods.push([what, Date.now()])
  for (const node of nodes) {
    begin(`${node.name} killed`)
    process.kill(node.pid(), "SIGKILL")
    await recover()
  }
  const [first, second] = nodes
  ensure(first !== undefined && second !== undefined, "the cluster has too few servers")
  begin(`${first.name} frozen for ${stoppedMs / 1000} s`)
  const frozen = first.pid()
  process.kill(frozen, "SIGSTOP")
  await pause(stoppedMs)
  process.kill(frozen, "SIGCONT")
  await recover()
  begin("two servers killed at once")
  for (const { pid } of [first, second]) process.kill(pid(), "SIGKILL")
  await pause(betweenMs)
  await writing.stop()
  begin("end")

  const created = await ensureAllArrived(writing, webhook)
  await waitFor("every event has arrived over NATS", () => created.every(({ id = "" }) => nats.arrivals.has(id)))
  await Promise.all([nats.close(), health.close()])

  let isLate = false
  const figures: Record<string, string> = { events: String(created.length) }
  for (const [index, [what, from]] of periods.slice(0, -1).entries()) {
    const to = periods[index + 1]?.[1] ?? 0
    const worst = [webhook.arrivals, nats.arrivals].map((arrivals) => worstArrival(writing, arrivals, from, to))
    figures[`${what}: worst arrival by webhook, over NATS`] = worst.map((ms) => `${ms} ms`).join(", ")
    isLate ||= Math.max(...worst) >= worstAllowedMs
  }
  ensure(!isLate, `an event took longer than ${worstAllowedMs} ms: ${JSON.stringify(figures)}`)
  return figures
}

import { Effect } from "effect"
import { AckPolicy, type Consumer, connect, StorageType } from "nats"
import pg from "pg"
import { Pool } from "undici"
import { withProgress } from "../../tools/local/ConsoleProgress.ts"
import { measureRate } from "../support/pacing.ts"
import type { Receivers } from "./receivers.ts"

const measuredSeconds = 4
const rowsPerBatch = 100
const body = Buffer.from(
  JSON.stringify({ tenant: "tnt_01jd0000000000000000000000", id: "evt_01jd0000000000000000000000" })
)

export interface ComponentRate {
  readonly component: string
  readonly perSecond: number
}

type ComponentRates = Promise<ReadonlyArray<ComponentRate>>

/** Consumes until the stream is empty. */
const measureConsumeRate = async (consumer: Consumer) => {
  const startedAt = performance.now()
  let [count, previousCount, lastAt] = [0, -1, startedAt]
  while (count > previousCount) {
    previousCount = count
    for await (const message of await consumer.fetch({ max_messages: 500, expires: 1000 })) {
      message.ack()
      count++
      lastAt = performance.now()
    }
  }
  return count / ((lastAt - startedAt) / 1000)
}

const measureBroker = async (natsUrl: string): ComponentRates => {
  const { password, username, host } = new URL(natsUrl)
  const connection = await connect({ servers: host, ...(username === "" ? {} : { user: username, pass: password }) })
  const manager = await connection.jetstreamManager()
  await manager.streams.add({ name: "bare", subjects: ["bare"], storage: StorageType.File })
  await manager.consumers.add("bare", { durable_name: "bare", ack_policy: AckPolicy.Explicit, max_ack_pending: 2000 })
  const stream = connection.jetstream()
  const publishRate = await measureRate(measuredSeconds, 64, () => stream.publish("bare", body))
  const consumeRate = await measureConsumeRate(await stream.consumers.get("bare", "bare"))
  await connection.close()
  return [
    { component: "JetStream: publish and have it acknowledged, 64 at once", perSecond: publishRate },
    { component: "JetStream: consume and acknowledge, 500 at a time", perSecond: consumeRate }
  ]
}

const measureDatabase = async (connectionString: string): ComponentRates => {
  const pool = new pg.Pool({ connectionString, max: 32 })
  await pool.query("create table bare (id bigint generated always as identity primary key, text text not null)")
  const insert = { name: "one", text: "insert into bare (text) values ($1)", values: [body.toString()] }
  const singleRate = await measureRate(measuredSeconds, 32, () => pool.query(insert))
  const many = {
    name: "many",
    text: "insert into bare (text) select $1 from generate_series(1, $2::integer)",
    values: [body.toString(), rowsPerBatch]
  }
  const batchRate = await measureRate(measuredSeconds, 1, () => pool.query(many))
  await pool.query("drop table bare")
  await pool.end()
  return [
    { component: "PostgreSQL: commits of one row, 32 connections", perSecond: singleRate },
    { component: `PostgreSQL: rows in commits of ${rowsPerBatch}, one connection`, perSecond: batchRate * rowsPerBatch }
  ]
}

const measureReceiver = async (receivers: Receivers): ComponentRates => {
  const [port] = await receivers.open(1)
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: 32 })
  const event = JSON.stringify({ id: "evt", timestamp: new Date().toISOString(), data: { text: "x".repeat(400) } })
  const perSecond = await measureRate(measuredSeconds, 32, async () => {
    const response = await pool.request({ method: "POST", path: "/", body: event })
    await response.body.dump()
  })
  await pool.close()
  await receivers.takeArrivals()
  return [{ component: "undici: POST to the same receiver, 32 at once", perSecond }]
}

interface ServerUrls {
  readonly natsUrl: string
  readonly databaseUrl: string
}

/** Measures each component of a delivery alone, as an upper bound for the whole. */
export const measureComponents = ({ databaseUrl, natsUrl }: ServerUrls, receivers: Receivers) =>
  Effect.gen(function* () {
    const components = [
      () => measureBroker(natsUrl),
      () => measureDatabase(databaseUrl),
      () => measureReceiver(receivers)
    ]
    const rates = yield* withProgress(
      "Measuring the components alone",
      Effect.forEach(components, (measureComponent) => Effect.promise(measureComponent)),
      (rates) =>
        `Components alone: ${rates
          .flat()
          .map(({ perSecond }) => `${perSecond.toFixed(0)}/s`)
          .join(", ")}`
    )
    return rates.flat()
  })

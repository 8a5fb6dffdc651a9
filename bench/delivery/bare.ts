import { Effect } from "effect"
import { AckPolicy, type Consumer, connect, StorageType } from "nats"
import pg from "pg"
import { Pool } from "undici"
import { withProgress } from "../../src/layers/local/ConsoleProgress.ts"
import { rateOf } from "../running/pace.ts"
import type { Receivers } from "./receivers.ts"

const seconds = 4
const perBatch = 100
const body = Buffer.from(
  JSON.stringify({ tenant: "tnt_01jd0000000000000000000000", id: "evt_01jd0000000000000000000000" })
)

export interface Rate {
  readonly what: string
  readonly perSecond: number
}

type Rates = Promise<ReadonlyArray<Rate>>

/** How many a second, up to the last there is. */
const consumeAll = async (consumer: Consumer) => {
  const began = performance.now()
  let [count, before, last] = [0, -1, began]
  while (count > before) {
    before = count
    for await (const message of await consumer.fetch({ max_messages: 500, expires: 1000 })) {
      message.ack()
      count++
      last = performance.now()
    }
  }
  return count / ((last - began) / 1000)
}

const broker = async (natsUrl: string): Rates => {
  const { password, username, host } = new URL(natsUrl)
  const connection = await connect({ servers: host, ...(username === "" ? {} : { user: username, pass: password }) })
  const manager = await connection.jetstreamManager()
  await manager.streams.add({ name: "bare", subjects: ["bare"], storage: StorageType.File })
  await manager.consumers.add("bare", { durable_name: "bare", ack_policy: AckPolicy.Explicit, max_ack_pending: 2000 })
  const stream = connection.jetstream()
  const published = await rateOf(seconds, 64, () => stream.publish("bare", body))
  const consumed = await consumeAll(await stream.consumers.get("bare", "bare"))
  await connection.close()
  return [
    { what: "JetStream: publish and have it acknowledged, 64 at once", perSecond: published },
    { what: "JetStream: consume and acknowledge, 500 at a time", perSecond: consumed }
  ]
}

const database = async (connectionString: string): Rates => {
  const pool = new pg.Pool({ connectionString, max: 32 })
  await pool.query("create table bare (id bigint generated always as identity primary key, text text not null)")
  const insert = { name: "one", text: "insert into bare (text) values ($1)", values: [body.toString()] }
  const single = await rateOf(seconds, 32, () => pool.query(insert))
  const many = {
    name: "many",
    text: "insert into bare (text) select $1 from generate_series(1, $2::integer)",
    values: [body.toString(), perBatch]
  }
  const batches = await rateOf(seconds, 1, () => pool.query(many))
  await pool.query("drop table bare")
  await pool.end()
  return [
    { what: "PostgreSQL: commits of one row, 32 connections", perSecond: single },
    { what: `PostgreSQL: rows in commits of ${perBatch}, one connection`, perSecond: batches * perBatch }
  ]
}

const posts = async (receivers: Receivers): Rates => {
  const [port] = await receivers.open(1)
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: 32 })
  const event = JSON.stringify({ id: "evt", timestamp: new Date().toISOString(), data: { text: "x".repeat(400) } })
  const perSecond = await rateOf(seconds, 32, async () => {
    const answer = await pool.request({ method: "POST", path: "/", body: event })
    await answer.body.dump()
  })
  await pool.close()
  await receivers.take()
  return [{ what: "undici: POST to the same receiver, 32 at once", perSecond }]
}

interface Places {
  readonly natsUrl: string
  readonly databaseUrl: string
}

/** What the machine reaches of each thing a delivery is made of, with nothing else going on. */
export const measureBare = ({ databaseUrl, natsUrl }: Places, receivers: Receivers) =>
  Effect.gen(function* () {
    const parts = [() => broker(natsUrl), () => database(databaseUrl), () => posts(receivers)]
    const found = yield* withProgress(
      "Measuring the parts alone",
      Effect.forEach(parts, (part) => Effect.promise(part)),
      (found) =>
        `The parts alone: ${found
          .flat()
          .map(({ perSecond }) => `${perSecond.toFixed(0)}/s`)
          .join(", ")}`
    )
    return found.flat()
  })

import { connect, type NatsConnection } from "nats"
import type pg from "pg"
import { makeNatsNames } from "../../src/layers/nats/NatsNames.ts"
import { type Attacker, repeat } from "../attacker.ts"
import type { Row, Scene } from "../row.ts"
import { createIntegrations, type Integration } from "./integrations.ts"

const presentCount = 1500
const newCount = 200
const timeoutMillis = 30_000

const pause = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

const poll = async (isDone: () => Promise<boolean>) => {
  const began = performance.now()
  while (performance.now() - began < timeoutMillis && !(await isDone())) await pause(250)
}

const connectNats = (natsUrl: string) => {
  const { host, password, username } = new URL(natsUrl)
  return connect({ servers: host, ...(username === "" ? {} : { user: username, pass: password }) })
}

const streamOf = async (connection: NatsConnection, { namespace }: Scene) => {
  const { streams } = await connection.jetstreamManager()
  const { subjectFilter, stream, subjects } = makeNatsNames(namespace).integrations
  return {
    consumerCount: async () => (await streams.info(stream)).state.consumer_count,
    /** How many messages there are for each integration. */
    messages: async () => {
      const { state } = await streams.info(stream, { subjects_filter: subjects })
      const entries = Object.entries(state.subjects ?? {})
      return ({ id, tenant }: Integration) => {
        const start = subjectFilter(tenant, id).slice(0, -1)
        return entries.reduce((sum, [subject, count]) => (subject.startsWith(start) ? sum + count : sum), 0)
      }
    }
  }
}

interface Told extends Integration {
  readonly delivered: number
  readonly all: number
}

const toldOf = async (client: pg.Client, integrations: ReadonlyArray<Integration>) => {
  const { rows } = await client.query<Told>(
    `select tenant_id as tenant, integration_id as id, count(*)::integer as all,
       count(*) filter (where status = 'DELIVERED')::integer as delivered
     from deliveries where integration_id = any ($1) group by 1, 2`,
    [integrations.map(({ id }) => id)]
  )
  return rows
}

/** Every event the service says is delivered must lie in its stream: nobody pulls here. */
const countLost = async (scene: Scene, integrations: ReadonlyArray<Integration>) => {
  await poll(async () => (await toldOf(scene.client, integrations)).every(({ all, delivered }) => all === delivered))
  const connection = await connectNats(scene.natsUrl)
  try {
    const present = await (await streamOf(connection, scene)).messages()
    const told = await toldOf(scene.client, integrations)
    const lost = told.reduce((sum, one) => sum + Math.max(0, one.delivered - present(one)), 0)
    return { lost, delivered: told.reduce((sum, one) => sum + one.delivered, 0) }
  } finally {
    await connection.close()
  }
}

const waitForConsumers = async (scene: Scene) => {
  const connection = await connectNats(scene.natsUrl)
  try {
    const { consumerCount } = await streamOf(connection, scene)
    await poll(async () => (await consumerCount()) >= presentCount)
  } finally {
    await connection.close()
  }
}

const newPerTenant = 50
const betweenMillis = 80

/** Creates integrations one after the other, and has each told something at once: its consumer is as new as it is. */
const createAndPing = async (attacker: Attacker, created: Array<Integration>, signal: AbortSignal) => {
  const tenants: Array<string> = []
  for (let n = 0; n < newCount / newPerTenant; n++) tenants.push(await attacker.createTenant())
  await repeat({ atOnce: 2, total: newCount, until: signal }, async (n) => {
    const tenant = tenants[n % tenants.length] ?? ""
    const id = await attacker.create("/integrations", { tenant, body: { provider: "NATS", name: "New" } })
    created.push({ tenant, id })
    await attacker.call("POST", `/integrations/${id}/ping`, { tenant, signal })
    await pause(betweenMillis)
  })
}

export const manyConsumers: Row = {
  name: `${presentCount} NATS integrations, ${newCount} more created and pinged`,
  prepare: async (scene) => {
    await createIntegrations(scene.attacker, "NATS", presentCount)
    await waitForConsumers(scene)
    const created: Array<Integration> = []
    return {
      run: (signal) => createAndPing(scene.attacker, created, signal),
      check: async () => {
        const { delivered, lost } = await countLost(scene, created)
        return [{ what: `${lost} of ${delivered} delivered events lost`, isBroken: lost > 0 }]
      }
    }
  }
}

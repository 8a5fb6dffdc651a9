import { connect, type NatsConnection } from "nats"
import type pg from "pg"
import { makeNatsNames } from "../../../src/layers/infra/nats/NatsNames.ts"
import { type Attacker, repeat } from "../attacker.ts"
import type { AttackFixture, Row } from "../row.ts"
import { createIntegrations, type Integration } from "./integrations.ts"

const existingCount = 1500
const newCount = 200
const timeoutMillis = 30_000

const sleep = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

const waitUntil = async (isDone: () => Promise<boolean>) => {
  const startedAt = performance.now()
  while (performance.now() - startedAt < timeoutMillis && !(await isDone())) await sleep(250)
}

const connectNats = (natsUrl: string) => {
  const { host, password, username } = new URL(natsUrl)
  return connect({ servers: host, ...(username === "" ? {} : { user: username, pass: password }) })
}

const openStream = async (connection: NatsConnection, { namespace }: AttackFixture) => {
  const { streams } = await connection.jetstreamManager()
  const { subjectFilter, stream, subjects } = makeNatsNames(namespace).integrations
  return {
    consumerCount: async () => (await streams.info(stream)).state.consumer_count,
    /** Returns a function that counts the messages of an integration. */
    countMessages: async () => {
      const { state } = await streams.info(stream, { subjects_filter: subjects })
      const entries = Object.entries(state.subjects ?? {})
      return ({ id, tenant }: Integration) => {
        const start = subjectFilter(tenant, id).slice(0, -1)
        return entries.reduce((sum, [subject, count]) => (subject.startsWith(start) ? sum + count : sum), 0)
      }
    }
  }
}

interface DeliveryCounts extends Integration {
  readonly delivered: number
  readonly total: number
}

const readDeliveryCounts = async (client: pg.Client, integrations: ReadonlyArray<Integration>) => {
  const { rows } = await client.query<DeliveryCounts>(
    `select tenant_id as tenant, integration_id as id, count(*)::integer as total,
       count(*) filter (where status = 'DELIVERED')::integer as delivered
     from deliveries where integration_id = any ($1) group by 1, 2`,
    [integrations.map(({ id }) => id)]
  )
  return rows
}

/** Counts events that are DELIVERED but missing in the stream, from which nobody consumes here. */
const countLost = async (fixture: AttackFixture, integrations: ReadonlyArray<Integration>) => {
  await waitUntil(async () =>
    (await readDeliveryCounts(fixture.client, integrations)).every(({ total, delivered }) => total === delivered)
  )
  const connection = await connectNats(fixture.natsUrl)
  try {
    const countInStream = await (await openStream(connection, fixture)).countMessages()
    const counts = await readDeliveryCounts(fixture.client, integrations)
    const lost = counts.reduce(
      (sum, integration) => sum + Math.max(0, integration.delivered - countInStream(integration)),
      0
    )
    return { lost, delivered: counts.reduce((sum, integration) => sum + integration.delivered, 0) }
  } finally {
    await connection.close()
  }
}

const waitForConsumers = async (fixture: AttackFixture) => {
  const connection = await connectNats(fixture.natsUrl)
  try {
    const { consumerCount } = await openStream(connection, fixture)
    await waitUntil(async () => (await consumerCount()) >= existingCount)
  } finally {
    await connection.close()
  }
}

const newPerTenant = 50
const intervalMillis = 80

/** Creates integrations and pings each at once, when its consumer is new. */
const createAndPing = async (attacker: Attacker, created: Array<Integration>, signal: AbortSignal) => {
  const tenants: Array<string> = []
  for (let n = 0; n < newCount / newPerTenant; n++) tenants.push(await attacker.createTenant())
  await repeat({ concurrency: 2, total: newCount, signal }, async (n) => {
    const tenant = tenants[n % tenants.length] ?? ""
    const id = await attacker.create("/integrations", { tenant, body: { provider: "NATS", name: "New" } })
    created.push({ tenant, id })
    await attacker.call("POST", `/integrations/${id}/ping`, { tenant, signal })
    await sleep(intervalMillis)
  })
}

export const manyConsumers: Row = {
  name: `${existingCount} NATS integrations, ${newCount} more created and pinged`,
  prepare: async (fixture) => {
    await createIntegrations(fixture.attacker, "NATS", existingCount)
    await waitForConsumers(fixture)
    const created: Array<Integration> = []
    return {
      run: (signal) => createAndPing(fixture.attacker, created, signal),
      check: async () => {
        const { delivered, lost } = await countLost(fixture, created)
        return [{ description: `${lost} of ${delivered} delivered events lost`, isViolation: lost > 0 }]
      }
    }
  }
}

import type pg from "pg"
import { repeat } from "../attacker.ts"
import type { Row } from "../row.ts"
import { createWebhook, type Integration } from "./integrations.ts"

const deliveryCount = 300_000

/** Delivered events of as many clients. */
const insertStatements = [
  `insert into events (tenant_id, id, type, resource_id, sequence, occurred_at, data)
   select $1, 'evt_' || lpad(n::text, 26, '0'), 'client.created', 'clnt_' || lpad(n::text, 26, '0'), 1,
     now() - interval '1 day', '{"name":"Client"}'
   from generate_series(1, $3::integer) n where $2::text is not null`,
  `insert into deliveries (tenant_id, id, integration_id, event_id, event_type, resource_id, sequence, status, attempts,
     response_status, delivered_at, created_at, updated_at)
   select $1, 'dlv_' || lpad(n::text, 26, '0'), $2, 'evt_' || lpad(n::text, 26, '0'), 'client.created',
     'clnt_' || lpad(n::text, 26, '0'), 1, 'DELIVERED', 1, 200, now() - interval '1 day', now() - interval '1 day',
     now() - interval '1 day'
   from generate_series(1, $3::integer) n`
]

const insertHistory = async (client: pg.Client, { id, tenant }: Integration) => {
  await client.query("begin")
  // Without triggers: these events need no processing and no reference checks.
  await client.query("set local session_replication_role = replica")
  for (const text of insertStatements) await client.query(text, [tenant, id, deliveryCount])
  await client.query("commit")
  await client.query("vacuum analyze")
}

export const bulkRedelivery: Row = {
  name: `redeliver over ${deliveryCount} deliveries, new events beside it`,
  prepare: async ({ attacker, client, receivers }) => {
    const tenant = await attacker.createTenant()
    const [port = 0] = await receivers.open(1)
    const integration = await createWebhook(attacker, tenant, port)
    await insertHistory(client, integration)
    const body = { since: "2020-01-01T00:00:00Z" }
    return {
      run: async (signal) => {
        const redeliveries = repeat({ concurrency: 2, signal }, () =>
          attacker.call("POST", `/integrations/${integration.id}/redeliver`, { tenant, body, signal })
        )
        // New events of the same integration: their results are saved in the same batches as the victim's.
        const writes = repeat({ concurrency: 2, signal }, () =>
          attacker.call("POST", "/clients", { tenant, body: { name: "New" }, signal })
        )
        await Promise.all([redeliveries, writes])
      }
    }
  }
}

import { SqlClient } from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { makeEventRetention } from "../../../../src/layers/delivery/retention/EventRetention.ts"
import { countPages } from "../../../support/assertions/readCounts.ts"
import { withoutTriggers } from "../../../support/fixtures/journalHistory.ts"
import { type DeliveryDatabase, openDeliveryDatabase } from "../../../support/servers/deliveryDatabase.ts"

/**
 * The planner expects a search of an index for each integration, if these are fewer than its pages. The counts make that
 * look more expensive than to read all deliveries of an average tenant.
 */
const eventCount = 6000
const deliveriesPerEvent = 5
const integrationCount = 50
const otherTenantCount = 250
const limits = { maxEvents: 40, maxDeliveries: 1000, maxAttempts: 1000 }
/** Maximum of pages that the deletion of one event reads. */
const maxPages = 150

/** Old events of a large tenant, beside tenants with one event each. */
const insertHistory = ({ sql }: DeliveryDatabase) =>
  withoutTriggers(sql, async (connection) => {
    // The test alone decides whether there are statistics.
    for (const table of ["events", "event_feed", "deliveries"])
      await connection.query(`alter table ${table} set (autovacuum_enabled = false)`)
    await connection.query(
      `insert into events (tenant_id, id, type, resource_id, sequence, occurred_at, data)
       select tenant, 'evt_' || md5(tenant || n), 'client.updated', 'clnt_' || tenant, n,
         now() - age + n * interval '1 second', '{}'
       from (
         select 'tnt_large' as tenant, interval '90 days' as age, n from generate_series(1, $1::int) n
         union all select 'tnt_' || n, interval '1 day', 1 from generate_series(1, $2::int) n
       ) given`,
      [eventCount, otherTenantCount]
    )
    await connection.query(
      `insert into event_feed (tenant_id, position, event_id, resource_id, sequence, fanned_out)
       select tenant_id, sequence, id, resource_id, sequence, true from events`
    )
    await connection.query(
      `insert into deliveries (tenant_id, id, integration_id, event_id, event_type, resource_id, sequence, status,
         created_at, updated_at)
       select tenant_id, 'dlv_' || md5(id || n), 'int_' || md5(tenant_id || (sequence * $1::int + n) % $2), id, type,
         resource_id, sequence, 'DELIVERED', occurred_at, occurred_at
       from events, generate_series(1, case tenant_id when 'tnt_large' then $1 else 1 end) n`,
      [deliveriesPerEvent, integrationCount]
    )
  })

for (const statistics of ["without statistics", "with statistics"])
  describe(`The deletion of events of a large tenant, ${statistics},`, { timeout: 60_000 }, () => {
    let database: DeliveryDatabase
    beforeAll(async () => {
      database = await openDeliveryDatabase({ DATABASE_POOL: "1" })
      await insertHistory(database)
      if (statistics === "with statistics") await database.sql.query("analyze")
    }, 60_000)
    afterAll(() => database.close())

    const countEvents = async () => {
      const { rows } = await database.sql.query("select count(*)::int from events")
      return Number(rows[0]?.count)
    }

    for (const mode of ["force_custom_plan", "force_generic_plan"])
      it(`reads few pages per event with ${mode}, cascades included`, async () => {
        const { deleteNextBatch } = await database.runIn(
          Effect.tap(
            Effect.map(SqlClient, (sql) => makeEventRetention(sql, 30, limits)),
            Effect.flatMap(SqlClient, (sql) => sql`select set_config('plan_cache_mode', ${mode}, false)`)
          )
        )
        const [events, pages] = [await countEvents(), await countPages(database)]
        await database.run(deleteNextBatch())
        const read = (await countPages(database)) - pages
        assert.strictEqual(events - (await countEvents()), limits.maxEvents)
        assert.isAtMost(read / limits.maxEvents, maxPages)
      })
  })

import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, it } from "vitest"
import { retryNatsDeliveries } from "../../../src/layers/delivery/NatsRetries.ts"
import { insertDueDeliveries, insertTenant } from "../../support/fixtures/dueDeliveries.ts"
import { type DeliveryDatabase, openDeliveryDatabase } from "../../support/servers/deliveryDatabase.ts"

let database: DeliveryDatabase
beforeAll(async () => {
  database = await openDeliveryDatabase()
})
afterAll(() => database.close())

it("makes the deliveries to NATS that wait for a retry due at once, and no others", async () => {
  const { sql } = database
  const tenant = await insertTenant(sql)
  const nats = await insertDueDeliveries(sql, tenant, "http://127.0.0.1", 6)
  await insertDueDeliveries(sql, tenant, "http://127.0.0.1", 1)
  await sql.query("update integrations set provider = 'NATS' where id = $1", [nats])
  await insertDueDeliveries(sql, await insertTenant(sql), "http://127.0.0.1", 1)
  await sql.query("update deliveries set next_attempt_at = now() + interval '20 minutes'")
  const { rows } = await sql.query<{ id: string }>("select id from deliveries where integration_id = $1 order by id", [
    nats
  ])
  const [waiting, overdue, leased, delivered, changing, behind] = rows.map(({ id }) => id)
  await sql.query("update deliveries set next_attempt_at = '2026-01-01T00:00:00Z' where id = $1", [overdue])
  await sql.query("update deliveries set lease = 'mine', leased_until = next_attempt_at where id = $1", [leased])
  await sql.query("update deliveries set status = 'DELIVERED' where id = $1", [delivered])
  await sql.query("update deliveries set updated_at = now() + interval '10 minutes' where id = $1", [changing])
  await sql.query("update deliveries set status = 'WAITING' where id = $1", [behind])
  const before = await sql.query("select id, next_attempt_at from deliveries where id <> $1 order by id", [waiting])
  await database.runIn(Effect.flatMap(SqlClient.SqlClient, retryNatsDeliveries))
  const after = await sql.query("select id, next_attempt_at from deliveries where id <> $1 order by id", [waiting])
  assert.includeMembers(
    after.rows.map(({ id }) => id),
    [overdue, leased, delivered, changing, behind]
  )
  assert.deepStrictEqual(after.rows, before.rows)
  const { rows: retried } = await sql.query("select next_attempt_at <= now() as due from deliveries where id = $1", [
    waiting
  ])
  assert.deepStrictEqual(retried, [{ due: true }])
})

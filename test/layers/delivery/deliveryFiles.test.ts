import { Effect } from "effect"
import { afterAll, assert, beforeAll, it } from "vitest"
import { DeliveryFiles } from "../../../src/layers/delivery/GoogleDriveSender.ts"
import { insertDueDeliveries, insertTenant } from "../../support/fixtures/dueDeliveries.ts"
import { type DeliveryDatabase, openDeliveryDatabase } from "../../support/servers/deliveryDatabase.ts"

let database: DeliveryDatabase
beforeAll(async () => {
  database = await openDeliveryDatabase()
})
afterAll(() => database.close())

it("a delivery to Google Drive keeps its file, whatever files other deliveries have", async () => {
  const files = await database.runIn(Effect.provide(DeliveryFiles, DeliveryFiles.Default))
  const tenants = [await insertTenant(database.sql), await insertTenant(database.sql)]
  for (const tenant of tenants) await insertDueDeliveries(database.sql, tenant, "http://127.0.0.1", 2)
  const { rows } = await database.sql.query<{ tenant: string; delivery: string }>(
    "select tenant_id as tenant, id as delivery from deliveries order by tenant_id, id"
  )
  assert.lengthOf(rows, 4)
  const find = ({ delivery, tenant }: (typeof rows)[number]) => database.run(files.find(tenant, delivery))
  for (const row of rows) assert.isUndefined(await find(row))
  for (const [n, { delivery, tenant }] of rows.entries()) {
    assert.strictEqual(await database.run(files.assign(tenant, delivery, `file ${n}`)), `file ${n}`)
    assert.strictEqual(await database.run(files.assign(tenant, delivery, "later")), `file ${n}`)
  }
  const [first] = rows
  if (first === undefined) return assert.fail()
  const replace = (missing: string) => database.run(files.replace(first.tenant, first.delivery, missing, "new"))
  assert.strictEqual(await replace("file 1"), "file 0")
  assert.strictEqual(await replace("file 0"), "new")
  assert.deepStrictEqual(await Promise.all(rows.map(find)), ["new", "file 1", "file 2", "file 3"])
})

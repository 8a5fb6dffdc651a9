import { Effect } from "effect"
import { assert, describe, it } from "vitest"
import { failUnreachableIntegrations } from "../../../src/layers/integrations/FailingIntegrations.ts"
import { insertIntegration } from "../../support/fixtures/deliveryRows.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { testLayers } from "../../support/servers/layers.ts"
import { startServiceWithPool } from "../../support/servers/serviceWithPool.ts"

describe("failUnreachableIntegrations", () => {
  const at = useFixture(() => startServiceWithPool({}))

  const insertFailing = async (tenant: string, hours: number, status = "ACTIVE") => {
    const id = await insertIntegration(at().pool, tenant)
    await at().pool.query(
      "update integrations set failing_since = now() - make_interval(hours => $2), status = $3 where id = $1",
      [id, hours, status]
    )
    return id
  }

  it("stops only active integrations that fail for 72 hours, although stopping one of them fails", async () => {
    const [tenant, deletedTenant] = [await at().service.newTenant(), await at().service.newTenant()]
    await insertIntegration(at().pool, tenant)
    await insertFailing(tenant, 71)
    await insertFailing(tenant, 100, "PAUSED")
    await insertFailing(tenant, 100, "ERROR")
    await insertFailing(deletedTenant, 100)
    await at().service.api("DELETE", `/tenants/${deletedTenant}`, { as: "owner" })
    const [unstoppable, stoppable] = [await insertFailing(tenant, 80), await insertFailing(tenant, 72)]
    const stopped: Array<string> = []
    const fail = (tenant: string, id: string, reason: string) =>
      id === unstoppable
        ? Effect.die("the integration cannot be stopped")
        : Effect.sync(() => void stopped.push(`${tenant} ${id}: ${reason}`))
    await Effect.runPromise(Effect.provide(failUnreachableIntegrations(fail), testLayers(at().service.database.url)))
    assert.deepStrictEqual(stopped, [`${tenant} ${stoppable}: Nothing but failures for 72 hours`])
  })
})

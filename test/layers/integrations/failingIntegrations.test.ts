import { Effect } from "effect"
import { assert, describe, it } from "vitest"
import { failUnreachableIntegrations } from "../../../src/layers/integrations/FailingIntegrations.ts"
import { insertIntegration } from "../../support/fixtures/deliveryRows.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { testLayers } from "../../support/servers/layers.ts"
import { startServiceWithPool } from "../../support/servers/serviceWithPool.ts"

describe("integrations that fail for long", () => {
  const at = useFixture(startServiceWithPool)

  const failing = async (tenant: string, hours: number, status = "ACTIVE") => {
    const id = await insertIntegration(at().pool, tenant)
    await at().pool.query(
      "update integrations set failing_since = now() - make_interval(hours => $2), status = $3 where id = $1",
      [id, hours, status]
    )
    return id
  }

  it("are stopped after 72 hours, each whatever becomes of another, and no other is", async () => {
    const [tenant, gone] = [await at().service.newTenant(), await at().service.newTenant()]
    await insertIntegration(at().pool, tenant)
    await failing(tenant, 71)
    await failing(tenant, 100, "PAUSED")
    await failing(tenant, 100, "ERROR")
    await failing(gone, 100)
    await at().service.api("DELETE", `/tenants/${gone}`, { as: "owner" })
    const [longest, shortest] = [await failing(tenant, 80), await failing(tenant, 72)]
    const stopped: Array<string> = []
    const fail = (tenant: string, id: string, reason: string) =>
      id === longest
        ? Effect.die("it cannot be moved")
        : Effect.sync(() => void stopped.push(`${tenant} ${id}: ${reason}`))
    await Effect.runPromise(Effect.provide(failUnreachableIntegrations(fail), testLayers(at().service.database.url)))
    assert.deepStrictEqual(stopped, [`${tenant} ${shortest}: Nothing but failures for 72 hours`])
  })
})

import { repeat } from "../attacker.ts"
import type { Row } from "../row.ts"
import { createIntegrations, subscribeAll } from "./integrations.ts"

const integrationCount = 1500
const eventCount = 500

export const wideFanOut: Row = {
  name: `${integrationCount} paused integrations on client.*, then ${eventCount} clients`,
  prepare: async ({ attacker, client }) => {
    const integrations = await createIntegrations(attacker, "WEBHOOK", integrationCount)
    await subscribeAll(attacker, integrations, "client.*")
    // Like a pause request each.
    await client.query("update integrations set status = 'PAUSED' where id = any ($1)", [
      integrations.map(({ id }) => id)
    ])
    const tenants = [...new Set(integrations.map(({ tenant }) => tenant))]
    return {
      run: (signal) =>
        repeat({ concurrency: 16, total: eventCount, signal }, (n) =>
          attacker.call("POST", "/clients", { tenant: tenants[n % tenants.length], body: { name: "Wide" }, signal })
        )
    }
  }
}

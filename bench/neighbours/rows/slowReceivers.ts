import { repeat } from "../attacker.ts"
import type { Row } from "../row.ts"
import { createWebhook } from "./integrations.ts"

const receiverCount = 12
const eventsPerTenant = 300

const makeSlowReceiverRow = (name: string, tenantCount: number): Row => ({
  name,
  prepare: async ({ attacker, receivers }) => {
    const tenants = await Promise.all(Array.from({ length: tenantCount }, attacker.createTenant))
    const ports = await receivers.open(receiverCount)
    for (const [n, port] of ports.entries()) {
      await receivers.setBehaviour(port, "slow")
      await createWebhook(attacker, tenants[n % tenants.length] ?? "", port)
    }
    return {
      run: (signal) =>
        repeat({ concurrency: 16, total: eventsPerTenant * tenantCount, signal }, (n) =>
          attacker.call("POST", "/clients", { tenant: tenants[n % tenants.length], body: { name: "Slow" }, signal })
        )
    }
  }
})

export const slowReceivers: ReadonlyArray<Row> = [
  makeSlowReceiverRow(`${receiverCount} receivers that take 14 s, ${eventsPerTenant} events`, 1),
  makeSlowReceiverRow(
    `${receiverCount} receivers that take 14 s, a tenant and ${eventsPerTenant} events each`,
    receiverCount
  )
]

import { repeat } from "../attacker.ts"
import type { Row } from "../row.ts"
import { createHook } from "./integrations.ts"

const receiverCount = 12
const eventsEach = 300

const behindSlowReceivers = (name: string, tenantCount: number): Row => ({
  name,
  prepare: async ({ attacker, receivers }) => {
    const tenants = await Promise.all(Array.from({ length: tenantCount }, attacker.createTenant))
    const ports = await receivers.open(receiverCount)
    for (const [n, port] of ports.entries()) {
      await receivers.setBehaviour(port, "slow")
      await createHook(attacker, tenants[n % tenants.length] ?? "", port)
    }
    return {
      run: (signal) =>
        repeat({ atOnce: 16, total: eventsEach * tenantCount, until: signal }, (n) =>
          attacker.call("POST", "/clients", { tenant: tenants[n % tenants.length], body: { name: "Slow" }, signal })
        )
    }
  }
})

export const slowReceivers: ReadonlyArray<Row> = [
  behindSlowReceivers(`${receiverCount} receivers that take 14 s, ${eventsEach} events`, 1),
  behindSlowReceivers(
    `${receiverCount} receivers that take 14 s, a tenant and ${eventsEach} events each`,
    receiverCount
  )
]

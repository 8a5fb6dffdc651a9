import { type Attacker, repeat } from "../attacker.ts"
import type { Row } from "../row.ts"

const connections = 96
const manyTenants = 50
const clientsInAll = 1000

interface Place {
  readonly tenant: string
  readonly client: string
}

/** Tenants with clients in each of them, a thousand in all. */
const settle = async (attacker: Attacker, tenantCount: number): Promise<ReadonlyArray<Place>> => {
  const tenants = await Promise.all(Array.from({ length: tenantCount }, attacker.createTenant))
  const places: Array<Place> = []
  await repeat({ atOnce: 16, total: clientsInAll }, async (n) => {
    const tenant = tenants[n % tenants.length] ?? ""
    places.push({ tenant, client: await attacker.create("/clients", { tenant, body: { name: `Client ${n}` } }) })
  })
  return places
}

/** Reads and writes in turn, as fast as they are answered. */
const hammering = (name: string, tenantCount: number): Row => ({
  name,
  prepare: async ({ attacker }) => {
    const places = await settle(attacker, tenantCount)
    const calls = [
      ({ client, tenant }: Place, signal: AbortSignal) =>
        attacker.call("GET", `/clients/${client}`, { tenant, signal }),
      ({ tenant }: Place, signal: AbortSignal) => attacker.call("GET", "/clients", { tenant, signal }),
      ({ tenant }: Place, signal: AbortSignal) =>
        attacker.call("POST", "/clients", { tenant, body: { name: "One more" }, signal }),
      ({ client, tenant }: Place, signal: AbortSignal) =>
        attacker.call("PATCH", `/clients/${client}`, { tenant, body: { name: "Renamed" }, signal })
    ]
    return {
      run: (signal) =>
        repeat({ atOnce: connections, until: signal }, async (n) => {
          const place = places[n % places.length]
          if (place !== undefined) await calls[n % calls.length]?.(place, signal)
        })
    }
  }
})

export const manyConnections: ReadonlyArray<Row> = [
  hammering(`${connections} connections of one caller, one tenant`, 1),
  hammering(`${connections} connections of one caller, ${manyTenants} tenants`, manyTenants)
]

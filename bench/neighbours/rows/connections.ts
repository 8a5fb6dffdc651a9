import { type Attacker, repeat } from "../attacker.ts"
import type { Row } from "../row.ts"

const connections = 96
const tenantCount = 50
const clientCount = 1000

interface ClientRef {
  readonly tenant: string
  readonly client: string
}

const createClients = async (attacker: Attacker, count: number): Promise<ReadonlyArray<ClientRef>> => {
  const tenants = await Promise.all(Array.from({ length: count }, attacker.createTenant))
  const refs: Array<ClientRef> = []
  await repeat({ concurrency: 16, total: clientCount }, async (n) => {
    const tenant = tenants[n % tenants.length] ?? ""
    refs.push({ tenant, client: await attacker.create("/clients", { tenant, body: { name: `Client ${n}` } }) })
  })
  return refs
}

/** Alternates reads and writes as fast as the service responds. */
const makeConnectionsRow = (name: string, count: number): Row => ({
  name,
  prepare: async ({ attacker }) => {
    const refs = await createClients(attacker, count)
    const calls = [
      ({ client, tenant }: ClientRef, signal: AbortSignal) =>
        attacker.call("GET", `/clients/${client}`, { tenant, signal }),
      ({ tenant }: ClientRef, signal: AbortSignal) => attacker.call("GET", "/clients", { tenant, signal }),
      ({ tenant }: ClientRef, signal: AbortSignal) =>
        attacker.call("POST", "/clients", { tenant, body: { name: "One more" }, signal }),
      ({ client, tenant }: ClientRef, signal: AbortSignal) =>
        attacker.call("PATCH", `/clients/${client}`, { tenant, body: { name: "Renamed" }, signal })
    ]
    return {
      run: (signal) =>
        repeat({ concurrency: connections, signal }, async (n) => {
          const ref = refs[n % refs.length]
          if (ref !== undefined) await calls[n % calls.length]?.(ref, signal)
        })
    }
  }
})

export const manyConnections: ReadonlyArray<Row> = [
  makeConnectionsRow(`${connections} connections of one caller, one tenant`, 1),
  makeConnectionsRow(`${connections} connections of one caller, ${tenantCount} tenants`, tenantCount)
]

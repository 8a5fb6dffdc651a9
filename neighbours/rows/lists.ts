import { repeat } from "../attacker.ts"
import type { Row } from "../row.ts"

const clientCount = 200_000
const atOnce = 24
const slowReaders = 8
const slowPauseMillis = 50

const insertClients = `
  insert into clients (tenant_id, id, name, description, created_at, updated_at, sequence)
  select $1, 'clnt_' || lpad(n::text, 26, '0'), 'Client ' || n, 'Framework agreement since 2019, paid on 30 days', now(), now(), 1
  from generate_series(1, $2::integer) n`

const pause = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

export const wholeList: Row = {
  name: `GET /clients with ${clientCount} clients, ${atOnce} at once, ${slowReaders} of them reading slowly`,
  prepare: async ({ attacker, client }) => {
    const tenant = await attacker.createTenant()
    await client.query(insertClients, [tenant, clientCount])
    await client.query("analyze clients")

    const read = async (signal: AbortSignal, isSlow: boolean) => {
      try {
        const { body, statusCode } = await attacker.request("GET", "/clients", { tenant, signal })
        for await (const _ of body) if (isSlow) await pause(slowPauseMillis)
        attacker.count(String(statusCode))
      } catch {
        if (signal.aborted) return
        attacker.count("no answer")
        await pause(slowPauseMillis)
      }
    }
    const reading = (signal: AbortSignal, readers: number, isSlow: boolean) =>
      repeat({ atOnce: readers, until: signal }, () => read(signal, isSlow))
    return {
      run: async (signal) => {
        await Promise.all([reading(signal, atOnce - slowReaders, false), reading(signal, slowReaders, true)])
      }
    }
  }
}

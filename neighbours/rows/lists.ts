import { repeat } from "../attacker.ts"
import type { Row } from "../row.ts"

const clientCount = 200_000
const concurrency = 24
const slowReaders = 8
const slowPauseMillis = 50

const insertClients = `
  insert into clients (tenant_id, id, name, description, created_at, updated_at, sequence)
  select $1, 'clnt_' || lpad(n::text, 26, '0'), 'Client ' || n, 'Framework agreement since 2019, paid on 30 days', now(), now(), 1
  from generate_series(1, $2::integer) n`

const sleep = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

export const longLists: Row = {
  name: `GET /clients with ${clientCount} clients, ${concurrency} at once, ${slowReaders} of them reading slowly`,
  prepare: async ({ attacker, client }) => {
    const tenant = await attacker.createTenant()
    await client.query(insertClients, [tenant, clientCount])
    await client.query("analyze clients")

    const readList = async (signal: AbortSignal, isSlow: boolean) => {
      try {
        const { body, statusCode } = await attacker.request("GET", "/clients", { tenant, signal })
        for await (const _ of body) if (isSlow) await sleep(slowPauseMillis)
        attacker.countResponse(String(statusCode))
      } catch {
        if (signal.aborted) return
        attacker.countResponse("no response")
        await sleep(slowPauseMillis)
      }
    }
    const repeatReads = (signal: AbortSignal, readers: number, isSlow: boolean) =>
      repeat({ concurrency: readers, signal }, () => readList(signal, isSlow))
    return {
      run: async (signal) => {
        await Promise.all([
          repeatReads(signal, concurrency - slowReaders, false),
          repeatReads(signal, slowReaders, true)
        ])
      }
    }
  }
}

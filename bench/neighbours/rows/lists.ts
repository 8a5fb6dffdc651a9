import type pg from "pg"
import { type Attacker, repeat } from "../attacker.ts"
import type { Attack, Row } from "../row.ts"

const slowPauseMillis = 50

const insertClients = `
  insert into clients (tenant_id, id, name, description, created_at, updated_at, sequence)
  select $1, 'clnt_' || lpad(n::text, 26, '0'), 'Client ' || n, $3, now(), now(), 1
  from generate_series(1, $2::integer) n`

const sleep = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

interface Lists {
  readonly clients: number
  readonly description: string
  readonly concurrency: number
  readonly slowReaders: number
}

const prepareLists = async (
  attacker: Attacker,
  client: pg.Client,
  { clients, concurrency, description, slowReaders }: Lists
): Promise<Attack> => {
  const tenant = await attacker.createTenant()
  await client.query(insertClients, [tenant, clients, description])
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
      await Promise.all([repeatReads(signal, concurrency - slowReaders, false), repeatReads(signal, slowReaders, true)])
    }
  }
}

const makeListRow = (name: string, lists: Lists): Row => ({
  name,
  prepare: ({ attacker, client }) => prepareLists(attacker, client, lists)
})

export const longLists: ReadonlyArray<Row> = [
  makeListRow("GET /clients with 200000 clients, 24 at once, 8 of them reading slowly", {
    clients: 200_000,
    description: "Framework agreement since 2019, paid on 30 days",
    concurrency: 24,
    slowReaders: 8
  }),
  makeListRow("GET /clients of 13 MB, 96 at once", {
    clients: 11_000,
    description: "Framework agreement. ".repeat(48),
    concurrency: 96,
    slowReaders: 0
  })
]

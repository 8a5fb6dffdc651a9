import { insertClients } from "../fixtures/clientRows.ts"
import { insertDueDeliveries } from "../fixtures/dueDeliveries.ts"
import { invoiceClient } from "../fixtures/invoices.ts"
import type { RunningConsole } from "../servers/console.ts"

/** A long list of the console. */
export interface LongList {
  readonly name: string
  /** The rows of the list, which has more of them than a window shows. */
  readonly row: string
  /** Makes the rows. Returns the path of the screen. */
  readonly make: (console: RunningConsole) => Promise<string>
}

const linesPerRequest = 1000

const makeLines = async ({ service, tenant }: RunningConsole, count: number) => {
  const invoicing = invoiceClient(service, tenant)
  const { id } = await invoicing.draft()
  const lines = Array.from({ length: linesPerRequest }, (_, n) => ({ name: `Line ${n}`, amountMinor: 100 + n }))
  for (let made = 0; made < count; made += linesPerRequest) await invoicing.add(id, ...lines)
  return id
}

/** Copies a draft with its lines left out. */
const copyDrafts = async ({ pool, service, tenant }: RunningConsole, count: number) => {
  const { id } = await invoiceClient(service, tenant).draft()
  await pool.query(
    `insert into invoices
     select (jsonb_populate_record(i, jsonb_build_object('id', 'inv_' || substr(md5($1 || n), 1, 26)))).*
     from invoices i, generate_series(1, $2::int) n where i.id = $1`,
    [id, count]
  )
}

export const longLists: ReadonlyArray<LongList> = [
  {
    name: "5000 clients",
    row: ".virtual .row",
    make: async ({ pool, tenant }) => {
      await insertClients(pool, tenant, 5000)
      return "/clients"
    }
  },
  {
    name: "5000 invoices",
    row: ".virtual .row",
    make: async (console) => {
      await copyDrafts(console, 5000)
      return "/invoices"
    }
  },
  {
    name: "50 000 deliveries",
    row: ".virtual .row",
    make: async ({ pool, tenant }) =>
      `/integrations/${await insertDueDeliveries(pool, tenant, "http://127.0.0.1:9", 50_000)}`
  },
  {
    name: "10 000 lines of a draft",
    row: ".editor .virtual .line",
    make: async (console) => `/invoices/${await makeLines(console, 10_000)}`
  },
  {
    name: "10 000 lines of an invoice",
    row: ".editor .virtual .row",
    make: async (console) => {
      const id = await makeLines(console, 10_000)
      await invoiceClient(console.service, console.tenant).transition(id, "finalize")
      return `/invoices/${id}`
    }
  }
]

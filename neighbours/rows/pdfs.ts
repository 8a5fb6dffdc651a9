import { insertInvoices } from "../../bench/invoiceSeed.ts"
import { makeId } from "../../src/layers/postgres/IdGenerator.ts"
import { type Attacker, repeat } from "../attacker.ts"
import type { Row } from "../row.ts"

const requests = 80
const invoiceCount = 8
/** The most that an operator can allow; adding them by requests would take longer than all the rest. */
const lines = 20_000

const finalize = async (attacker: Attacker, tenant: string, invoices: ReadonlyArray<string>) => {
  for (const invoice of invoices) await attacker.create(`/invoices/${invoice}/finalize`, { tenant })
}

const drawing = (name: string, isFinalized: boolean): Row => ({
  name,
  prepare: async ({ attacker, client }) => {
    const tenant = await attacker.createTenant()
    const clientId = await attacker.create("/clients", { tenant, body: { name: "Client" } })
    const invoices = Array.from({ length: invoiceCount }, () => makeId("inv"))
    await insertInvoices(client, {
      id: tenant,
      role: "OWNER",
      clients: [clientId],
      projects: [],
      invoices,
      status: "DRAFT",
      lines
    })
    await client.query("vacuum analyze billables")
    if (isFinalized) await finalize(attacker, tenant, invoices)
    return {
      run: (signal) =>
        repeat({ atOnce: requests, until: signal }, (n) =>
          attacker.call("GET", `/invoices/${invoices[n % invoices.length]}/pdf`, { tenant, signal })
        )
    }
  }
})

export const longPdfs: ReadonlyArray<Row> = [
  drawing(`PDFs of finalized invoices with ${lines} lines, ${requests} at once`, true),
  drawing(`PDFs of drafts with ${lines} lines, ${requests} at once`, false)
]

import { insertInvoices } from "../../bench/seedInvoices.ts"
import { makeId } from "../../src/layers/Ids.ts"
import { repeat } from "../attacker.ts"
import type { Row } from "../row.ts"

const requests = 80
const invoiceCount = 8
/** The most that an operator can allow; adding them by requests would take longer than all the rest. */
const lines = 20_000

const drawing = (name: string, status: "DRAFT" | "FINALIZED"): Row => ({
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
      status,
      lines
    })
    await client.query("vacuum analyze billables")
    return {
      run: (signal) =>
        repeat({ atOnce: requests, until: signal }, (n) =>
          attacker.call("GET", `/invoices/${invoices[n % invoices.length]}/pdf`, { tenant, signal })
        )
    }
  }
})

export const longPdfs: ReadonlyArray<Row> = [
  drawing(`PDFs of finalized invoices with ${lines} lines, ${requests} at once`, "FINALIZED"),
  drawing(`PDFs of drafts with ${lines} lines, ${requests} at once`, "DRAFT")
]

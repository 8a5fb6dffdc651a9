import { makeId } from "../../../src/layers/infra/postgres/IdGenerator.ts"
import { insertInvoices } from "../../invoiceSeed.ts"
import { type Attacker, repeat } from "../attacker.ts"
import type { Row } from "../row.ts"

const requestCount = 80
const invoiceCount = 8
/** The maximum of MAX_INVOICE_LINES. Adding the lines over HTTP would take too long. */
const lineCount = 20_000

const finalizeInvoices = async (attacker: Attacker, tenant: string, invoices: ReadonlyArray<string>) => {
  for (const invoice of invoices) await attacker.create(`/invoices/${invoice}/finalize`, { tenant })
}

const makePdfRow = (name: string, isFinalized: boolean): Row => ({
  name,
  prepare: async ({ attacker, client }) => {
    const tenant = await attacker.createTenant()
    const clientId = await attacker.create("/clients", { tenant, body: { name: "Client" } })
    const invoices = Array.from({ length: invoiceCount }, () => makeId("inv"))
    await insertInvoices(client, {
      id: tenant,
      clients: [clientId],
      creditNotes: [],
      invoices,
      status: "DRAFT",
      lines: lineCount,
      taxRates: []
    })
    await client.query("vacuum analyze billables")
    if (isFinalized) await finalizeInvoices(attacker, tenant, invoices)
    return {
      run: (signal) =>
        repeat({ concurrency: requestCount, signal }, (n) =>
          attacker.call("GET", `/invoices/${invoices[n % invoices.length]}/pdf`, { tenant, signal })
        )
    }
  }
})

export const longPdfs: ReadonlyArray<Row> = [
  makePdfRow(`PDFs of finalized invoices with ${lineCount} lines, ${requestCount} at once`, true),
  makePdfRow(`PDFs of drafts with ${lineCount} lines, ${requestCount} at once`, false)
]

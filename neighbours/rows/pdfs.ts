import { type Attacker, repeat } from "../attacker.ts"
import type { Row } from "../row.ts"

const requests = 80
const invoiceCount = 4
const batchSize = 1000
const maxLines = 20_000

const lines = Array.from({ length: batchSize }, (_, n) => ({
  name: `Work of day ${n}`,
  quantity: 1.5,
  amountMinor: 100
}))

/** An invoice with as many lines as are allowed, up to the 20 000 that once could not be drawn. */
const createInvoice = async (attacker: Attacker, tenant: string, contractId: string) => {
  const invoiceId = await attacker.create("/invoices", { tenant, body: { contractId } })
  for (let count = 0; count < maxLines; count += batchSize) {
    const { status } = await attacker.prepare("POST", "/billables", { tenant, body: { invoiceId, billables: lines } })
    if (status !== 201) break
  }
  return invoiceId
}

const drawing = (name: string, isFinalized: boolean): Row => ({
  name,
  prepare: async ({ attacker }) => {
    const tenant = await attacker.createTenant()
    const clientId = await attacker.create("/clients", { tenant, body: { name: "Client" } })
    for (const owner of [{}, { clientId }]) {
      const address = { ...owner, name: "Works", address1: "Street 1", country: "CH", city: "Basel", zip: "4057" }
      await attacker.create("/addresses", { tenant, body: address })
    }
    const body = { clientId, name: "Contract", currencyCode: "CHF", status: "ACTIVE" }
    const contractId = await attacker.create("/contracts", { tenant, body })
    const invoices: Array<string> = []
    await repeat({ atOnce: 2, total: invoiceCount }, async () => {
      const invoice = await createInvoice(attacker, tenant, contractId)
      if (isFinalized) await attacker.prepare("POST", `/invoices/${invoice}/finalize`, { tenant })
      invoices.push(invoice)
    })
    return {
      run: (signal) =>
        repeat({ atOnce: requests, until: signal }, (n) =>
          attacker.call("GET", `/invoices/${invoices[n % invoices.length]}/pdf`, { tenant, signal })
        )
    }
  }
})

export const longPdfs: ReadonlyArray<Row> = [
  drawing(`PDFs of finalized invoices with ${maxLines} lines, ${requests} at once`, true),
  drawing(`PDFs of drafts with ${maxLines} lines, ${requests} at once`, false)
]

import { bill, hold, rewrite } from "./heldInvoice.ts"
import { releaseBillables } from "./invoicingStatements.ts"
import { broken, notFound } from "./refused.ts"
import { inTransaction } from "./transaction.ts"

/** Voids an invoice that is not paid: its lines let go of what they refer to, and its contract bills less. */
export const voidInvoice = (tenant: string, id: string) =>
  inTransaction(async (connection) => {
    const held = await hold(connection, tenant, id)
    if (held === undefined) throw notFound()
    const { contract, invoice } = held
    if (invoice.status !== "DRAFT" && invoice.status !== "FINALIZED") throw broken(`status is ${invoice.status}`)
    await connection.query({ ...releaseBillables, values: [tenant, id] })
    await bill(connection, tenant, contract, [-invoice.totalMinor])
    return rewrite(connection, tenant, invoice, "invoice.voided", { status: "VOID" })
  })

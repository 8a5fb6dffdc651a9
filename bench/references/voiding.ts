import { hold, rewrite } from "./heldInvoice.ts"
import { voidHeld } from "./invoicingStatements.ts"
import { broken, notFound } from "./refused.ts"
import { inTransaction } from "./transaction.ts"

/** Voids an invoice that is not paid: its lines let go of what they refer to, and its contract bills less. */
export const voidInvoice = (tenant: string, id: string) =>
  inTransaction(async (connection) => {
    const held = await hold(connection, tenant, id)
    if (held === undefined) throw notFound()
    const { invoice } = held
    if (invoice.status !== "DRAFT" && invoice.status !== "FINALIZED") throw broken(`status is ${invoice.status}`)
    return rewrite(connection, tenant, held, {
      statement: voidHeld,
      along: [tenant, id],
      changes: [-invoice.totalMinor],
      type: "invoice.voided",
      sets: { status: "VOID" }
    })
  })

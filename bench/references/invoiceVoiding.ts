import { notFound, validationError } from "./apiError.ts"
import { voidLockedInvoice } from "./invoicingStatements.ts"
import { lockInvoice, updateLockedInvoice } from "./lockedInvoice.ts"
import { inTransaction } from "./transaction.ts"

/** Voids an unpaid invoice: releases the references of its lines and reduces what its contract has billed. */
export const voidInvoice = (tenant: string, id: string) =>
  inTransaction(async (connection) => {
    const locked = await lockInvoice(connection, tenant, id)
    if (locked === undefined) throw notFound()
    const { invoice } = locked
    if (invoice.status !== "DRAFT" && invoice.status !== "FINALIZED")
      throw validationError(`status is ${invoice.status}`)
    return updateLockedInvoice(connection, tenant, locked, {
      statement: voidLockedInvoice,
      extraValues: [tenant, id],
      billedChanges: [-invoice.totalMinor],
      eventType: "invoice.voided",
      fields: { status: "VOID" }
    })
  })

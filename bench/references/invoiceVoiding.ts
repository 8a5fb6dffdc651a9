import { notFound, validationError } from "./apiError.ts"
import type { Caller } from "./caller.ts"
import { voidLockedInvoice } from "./invoicingStatements.ts"
import { toBookingValues } from "./journal.ts"
import { lockInvoice, updateLockedInvoice } from "./lockedInvoice.ts"
import { inTransaction } from "./transaction.ts"

/** Voids an unpaid invoice: releases the references of its lines and reduces what its contract has billed. */
export const voidInvoice = (caller: Caller, id: string) =>
  inTransaction(async (connection) => {
    const { tenant } = caller
    const locked = await lockInvoice(connection, tenant, id)
    if (locked === undefined) throw notFound()
    const { contract, invoice } = locked
    if (invoice.status !== "DRAFT" && invoice.status !== "FINALIZED")
      throw validationError(`status is ${invoice.status}`)
    const isIssued = invoice.invoiceNumber !== null
    const entries = isIssued ? [{ kind: "VOID", invoice: id, invoiceMinor: -invoice.totalMinor }] : []
    return updateLockedInvoice(connection, caller, locked, {
      statement: voidLockedInvoice,
      extraValues: [tenant, id, isIssued, ...toBookingValues(caller, contract, entries)],
      billedChanges: [-invoice.totalMinor],
      eventType: "invoice.voided",
      fields: { status: "VOID", balanceMinor: 0 }
    })
  })

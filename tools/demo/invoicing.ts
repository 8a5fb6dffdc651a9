import type { Contract, ContractingClient, Invoice } from "../../dist/client/index.js"
import type { EnsuredContract } from "./contracting.ts"
import type { DemoInvoice } from "./data.ts"
import { ensure } from "./ensure.ts"

const referenceType = "timesheet"

/** A draft without lines of an earlier run that was stopped, or a new one. */
export const ensureEmptyDraft = async (api: ContractingClient, contract: Contract) => {
  const drafts = await api.invoices.list({ contractId: contract.id, status: "DRAFT" }).toArray()
  const isEmpty = ({ billableCount }: Invoice) => billableCount === 0
  return ensure(drafts, isEmpty, () => api.invoices.create({ contractId: contract.id }))
}

const createInvoice = async (api: ContractingClient, contract: Contract, { lines, timesheet }: DemoInvoice) => {
  const { id: invoiceId } = await ensureEmptyDraft(api, contract)
  const [first, ...others] = lines
  if (first === undefined) throw new Error(`${timesheet} has no lines`)
  await api.billables.create({
    invoiceId,
    billables: [{ ...first, referenceType, referenceId: timesheet }, ...others]
  })
  return api.invoices.get(invoiceId)
}

const transitionsTo = ({ isNumbered = false, status }: DemoInvoice) => {
  if (status === "DRAFT") return []
  if (status === "VOID") return isNumbered ? (["finalize", "void"] as const) : (["void"] as const)
  return status === "PAID" ? (["finalize", "pay"] as const) : (["finalize"] as const)
}

/** The status before each transition. A later run goes on where an earlier one was stopped. */
const startOf = { finalize: "DRAFT", pay: "FINALIZED", void: undefined } as const

/** Returns the number of transitions. */
const bringToStatus = async (api: ContractingClient, invoice: Invoice, given: DemoInvoice) => {
  let { status } = invoice
  let transitions = 0
  for (const transition of transitionsTo(given)) {
    if (status !== (startOf[transition] ?? (given.isNumbered ? "FINALIZED" : "DRAFT"))) continue
    status = (await api.invoices[transition](invoice.id)).status
    transitions += 1
  }
  return transitions
}

/** Records the part payment of an invoice once: the time sheet is also the identifier of the payment. */
const ensurePartPayment = async (
  api: ContractingClient,
  { client, currencyCode }: Contract,
  invoiceId: string,
  { paidMinor, timesheet }: DemoInvoice
) => {
  if (paidMinor === undefined) return
  const recorded = await api.payments.list({ externalId: timesheet }).toArray()
  await ensure(
    recorded,
    () => true,
    () =>
      api.payments.create({
        ...{ clientId: client, currencyCode, amountMinor: paidMinor, externalId: timesheet, method: "bank transfer" },
        allocations: [{ invoiceId, amountMinor: paidMinor }]
      })
  )
}

/** Credits units of the last line of an invoice, once. */
const ensureCreditNote = async (api: ContractingClient, invoiceId: string, { returned }: DemoInvoice) => {
  if (returned === undefined) return
  const { quantity, reason } = returned
  const notes = await api.creditNotes.list({ invoiceId }).toArray()
  const note = await ensure(
    notes,
    () => true,
    async () => {
      const line = (await api.billables.list({ invoiceId }).toArray()).at(-1)
      if (line === undefined) throw new Error(`The invoice ${invoiceId} has no lines`)
      return api.creditNotes.create({ invoiceId, reason, lines: [{ billableId: line.id, quantity }] })
    }
  )
  if (note.status === "DRAFT") await api.creditNotes.finalize(note.id)
}

/** The invoices of all contracts, in every status. Returns the number of transitions. */
export const ensureInvoices = async (api: ContractingClient, contracts: ReadonlyArray<EnsuredContract>) => {
  const billables = await api.billables.list({ limit: 200 }).toArray()
  const lineOf = (timesheet: string) =>
    billables.find((line) => line.referenceType === referenceType && line.referenceId === timesheet)
  let transitions = 0
  for (const { contract, given } of contracts)
    for (const wanted of given.invoices) {
      const line = lineOf(wanted.timesheet)
      const invoice =
        line === undefined ? await createInvoice(api, contract, wanted) : await api.invoices.get(line.invoice)
      transitions += await bringToStatus(api, invoice, wanted)
      await ensurePartPayment(api, contract, invoice.id, wanted)
      await ensureCreditNote(api, invoice.id, wanted)
    }
  return transitions
}

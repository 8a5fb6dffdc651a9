import { assert } from "vitest"
import type { JournalEntry } from "../../../src/domain/journal/JournalEntry.ts"
import type { SettlementCall } from "../fixtures/payingClient.ts"
import { type Accounts, book, sum } from "../settlement/accounts.ts"
import { findViolations } from "../settlement/invariants.ts"
import { noEntries } from "../settlement/journalSums.ts"

const invoiceFields = [
  "status",
  "subtotalMinor",
  "taxMinor",
  "totalMinor",
  "paidMinor",
  "creditedMinor",
  "writtenOffMinor",
  "balanceMinor"
] as const
const sourceFields = ["allocations", "unallocatedMinor", "refundedMinor", "status"] as const
const paymentFields = ["amountMinor", ...sourceFields] as const
const noteFields = ["invoice", "subtotalMinor", "taxMinor", "totalMinor", ...sourceFields] as const

/** These fields of each resource, by its identifier. */
const fieldsOf = (resources: Iterable<object>, fields: ReadonlyArray<string>) =>
  Object.fromEntries(
    [...resources]
      .map((resource) => new Map(Object.entries(resource)))
      .map((values) => [values.get("id"), Object.fromEntries(fields.map((field) => [field, values.get(field)]))])
  )

/** The sums of all documents as the model has them. */
const totalsOf = ({ contract, invoices, journal, notes, payments }: Accounts) => {
  const values = [...invoices.values()].map(({ value }) => value)
  const revenue = [...journal.invoices.values()]
  return {
    openMinor: sum(values.map(({ balanceMinor, status }) => (status === "FINALIZED" ? balanceMinor : 0))),
    unusedMinor: sum([...payments.values(), ...notes.values()].map(({ unallocatedMinor }) => unallocatedMinor)),
    billedMinor: contract.billedMinor,
    netMinor: sum(revenue.map(({ netMinor }) => netMinor)),
    taxMinor: sum(revenue.map(({ taxMinor }) => taxMinor))
  }
}

/** Asserts that the service shows the accounts of a client, in its documents, sums, reports and journal. */
export const assertAccounts = async (
  call: SettlementCall,
  accounts: Accounts,
  journal: ReadonlyArray<JournalEntry>
) => {
  const get = async (path: string) => {
    const { body, status, text } = await call("GET", path)
    assert.strictEqual(status, 200, text)
    return body.data
  }
  const { client, contract, invoices, notes, payments } = accounts
  assert.deepStrictEqual(findViolations(accounts), [])

  const values = [...invoices.values()].map(({ value }) => value)
  const shown = await get(`/invoices?contractId=${contract.id}&limit=200`)
  assert.deepStrictEqual(fieldsOf(shown, invoiceFields), fieldsOf(values, invoiceFields))
  const paid = await get(`/payments?clientId=${client}&limit=200`)
  assert.deepStrictEqual(fieldsOf(paid, paymentFields), fieldsOf(payments.values(), paymentFields))
  const credited = await get(`/credit-notes?clientId=${client}&status=FINALIZED&limit=200`)
  assert.deepStrictEqual(fieldsOf(credited, noteFields), fieldsOf(notes.values(), noteFields))

  const [balance] = (await get(`/clients/${client}/balance`)).balances
  const billing = await get(`/contracts/${contract.id}/billing`)
  const revenue = (await get("/reports/revenue/clients?limit=200")).find(
    (row: { client: string }) => row.client === client
  )
  const totals = {
    openMinor: balance?.openMinor ?? 0,
    unusedMinor: balance?.unusedMinor ?? 0,
    billedMinor: billing.issuedMinor + billing.draftedMinor,
    netMinor: revenue?.netMinor ?? 0,
    taxMinor: revenue?.taxMinor ?? 0
  }
  assert.deepStrictEqual(totals, totalsOf(accounts))
  assert.deepStrictEqual(book({ ...accounts, journal: noEntries }, journal).journal, accounts.journal)
}

import { balanceOf } from "../../../src/domain/invoicing/Invoice.ts"
import { netOf } from "../../../src/domain/invoicing/InvoiceTotals.ts"
import type { Allocated } from "../../../src/domain/payments/Allocation.ts"
import { type Accounts, type InvoiceAccount, sum } from "./accounts.ts"
import { sumsOf } from "./journalSums.ts"

/** What must hold in all accounts, by its name. Each returns what is wrong, in words. */
type Check = (accounts: Accounts) => ReadonlyArray<string>

const unequal = (what: string, actual: number, expected: number) =>
  actual === expected ? [] : [`${what} is ${actual} instead of ${expected}`]

const outside = (what: string, actual: number, max: number) =>
  actual >= 0 && actual <= max ? [] : [`${what} is ${actual}, not between 0 and ${max}`]

const ofInvoices =
  (check: (account: InvoiceAccount, accounts: Accounts) => ReadonlyArray<string>): Check =>
  (accounts) =>
    [...accounts.invoices.values()].flatMap((account) => check(account, accounts))

const settledBy = (sources: ReadonlyMap<string, Allocated>, id: string) =>
  sum(
    [...sources.values()].flatMap(({ allocations }) =>
      allocations.map(({ amountMinor, invoice }) => (invoice === id ? amountMinor : 0))
    )
  )

const notesOf = ({ notes }: Accounts, id: string) => [...notes.values()].filter(({ invoice }) => invoice === id)

const isIssued = ({ value: { status } }: InvoiceAccount) => status === "FINALIZED" || status === "PAID"

const balances = ofInvoices(({ value }) => {
  const { balanceMinor, creditedMinor, id, paidMinor, status, totalMinor, writtenOffMinor } = value
  const settled = paidMinor + creditedMinor + writtenOffMinor
  const isOpen = status === "FINALIZED" || status === "PAID"
  return [
    ...unequal(`the balance of ${id}`, balanceMinor, status === "VOID" ? 0 : totalMinor - settled),
    ...unequal(`the balance of ${id}`, balanceMinor, balanceOf(value)),
    ...Object.entries({ paidMinor, creditedMinor, writtenOffMinor }).flatMap(([name, amount]) =>
      outside(`${name} of ${id}`, amount, isOpen ? totalMinor : 0)
    ),
    ...(isOpen && (status === "PAID") !== (balanceMinor === 0) ? [`${id} is ${status} with ${balanceMinor} open`] : [])
  ]
})

const settlements = ofInvoices(({ value: { creditedMinor, id, paidMinor } }, { notes, payments }) => [
  ...unequal(`paidMinor of ${id}`, paidMinor, settledBy(payments, id)),
  ...unequal(`creditedMinor of ${id}`, creditedMinor, settledBy(notes, id))
])

const usesOf = (id: string, amountMinor: number, { allocations, refundedMinor, unallocatedMinor }: Allocated) => {
  const allocated = sum(allocations.map((allocation) => allocation.amountMinor))
  return [
    ...unequal(
      `what is allocated, refunded and left of ${id}`,
      allocated + refundedMinor + unallocatedMinor,
      amountMinor
    ),
    ...outside(`unallocatedMinor of ${id}`, unallocatedMinor, amountMinor),
    ...outside(`refundedMinor of ${id}`, refundedMinor, amountMinor)
  ]
}

const uses: Check = ({ notes, payments }) => [
  ...[...payments.values()].flatMap((one) => usesOf(one.id, one.status === "RECORDED" ? one.amountMinor : 0, one)),
  ...[...notes.values()].flatMap((note) => usesOf(note.id, note.totalMinor, note))
]

const credits = ofInvoices(({ credited, value }, accounts) => {
  const notes = notesOf(accounts, value.id)
  const netMinor = sum(notes.map(netOf))
  return [
    ...outside(`the credited net of ${value.id}`, netMinor, netOf(value)),
    ...outside(`the credited total of ${value.id}`, sum(notes.map(({ totalMinor }) => totalMinor)), value.totalMinor),
    ...unequal(`the credited net of ${value.id}`, netMinor, sum(credited.map((set) => set.netMinor)))
  ]
})

const voidOrCredited = ofInvoices((account, accounts) =>
  isIssued(account)
    ? []
    : notesOf(accounts, account.value.id).map(
        ({ id }) => `${account.value.id} is ${account.value.status}, but ${id} credits it`
      )
)

const ownCreditFirst = ofInvoices(({ value: { balanceMinor, id } }, accounts) =>
  notesOf(accounts, id)
    .filter(({ unallocatedMinor }) => balanceMinor > 0 && unallocatedMinor > 0)
    .map((note) => `${id} is open by ${balanceMinor}, but its ${note.id} has ${note.unallocatedMinor} left`)
)

const billed: Check = ({ contract, invoices, notes }) => {
  const live = [...invoices.values()].filter(({ value }) => value.status !== "VOID")
  const netMinor = sum(live.map(({ value }) => netOf(value))) - sum([...notes.values()].map(netOf))
  return unequal("what the contract has billed", contract.billedMinor, netMinor)
}

const revenue = ofInvoices((account, { journal, ...accounts }) => {
  const { value } = account
  const { netMinor, taxMinor } = sumsOf(journal, value.id)
  const notes = notesOf({ journal, ...accounts }, value.id)
  const [billedMinor, taxedMinor] = isIssued(account) ? [netOf(value), value.taxMinor] : [0, 0]
  return [
    ...outside(`the revenue of ${value.id}`, netMinor, netOf(value)),
    ...outside(`the tax of ${value.id}`, taxMinor, value.taxMinor),
    ...unequal(`the revenue of ${value.id}`, netMinor, billedMinor - sum(notes.map(netOf))),
    ...unequal(`the tax of ${value.id}`, taxMinor, taxedMinor - sum(notes.map((note) => note.taxMinor)))
  ]
})

const journalOfInvoices = ofInvoices((account, { journal }) => {
  const { value } = account
  const sums = sumsOf(journal, value.id)
  return [
    ...unequal(`what the journal has open of ${value.id}`, sums.openMinor, isIssued(account) ? value.balanceMinor : 0),
    ...(["paidMinor", "creditedMinor", "writtenOffMinor"] as const).flatMap((name) =>
      unequal(`${name} of ${value.id} in the journal`, sums[name], value[name])
    )
  ]
})

const journalOfCredits: Check = ({ journal, notes, payments }) =>
  [...payments.values(), ...notes.values()].flatMap(({ id, unallocatedMinor }) =>
    unequal(`what the journal has left of ${id}`, journal.unused.get(id) ?? 0, unallocatedMinor)
  )

/** Money in hand is for what was billed and is not owed any more, or it still belongs to the client. */
const money: Check = ({ invoices, journal, notes, payments }) => {
  const recorded = [...payments.values()].filter(({ status }) => status === "RECORDED")
  const credits = [...payments.values(), ...notes.values()]
  const issued = [...invoices.values()].filter(isIssued).map(({ value }) => value)
  const received = sum(recorded.map(({ amountMinor }) => amountMinor))
  const refunded = sum(credits.map(({ refundedMinor }) => refundedMinor))
  const earned =
    sum(issued.map(({ balanceMinor, totalMinor, writtenOffMinor }) => totalMinor - balanceMinor - writtenOffMinor)) -
    sum([...notes.values()].map(({ totalMinor }) => totalMinor))
  return [
    ...unequal("the money that the journal received", journal.receivedMinor, received),
    ...unequal("the money that the journal refunded", journal.refundedMinor, refunded),
    ...unequal("the money in hand", received - refunded, earned + sum(credits.map((one) => one.unallocatedMinor)))
  ]
}

/** The first ones name what is wrong most plainly. */
const checks: ReadonlyArray<Check> = [
  voidOrCredited,
  balances,
  settlements,
  uses,
  credits,
  ownCreditFirst,
  billed,
  revenue,
  journalOfInvoices,
  journalOfCredits,
  money
]

/** What is wrong in accounts: what the first check finds that finds something. */
export const findViolations = (accounts: Accounts): ReadonlyArray<string> => {
  for (const check of checks) {
    const found = check(accounts)
    if (found.length > 0) return found
  }
  return []
}

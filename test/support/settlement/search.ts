import { ClientId } from "../../../src/domain/contracting/Client.ts"
import { CreditNoteId } from "../../../src/domain/creditNotes/CreditNote.ts"
import { PaymentId } from "../../../src/domain/payments/Payment.ts"
import { type Accounts, accountsOf, type InvoiceKey, type NoteKey, type PaymentKey } from "./accounts.ts"
import { canonicalState } from "./canonicalState.ts"
import { draftInvoice } from "./draftInvoice.ts"
import { findViolations } from "./invariants.ts"
import { type Call, type Choices, findRefusal } from "./operation.ts"
import { operations } from "./operations.ts"

const paymentIds: ReadonlyArray<PaymentKey> = [PaymentId.make("pay_1"), PaymentId.make("pay_2")]
const noteIds: ReadonlyArray<NoteKey> = [CreditNoteId.make("crn_1"), CreditNoteId.make("crn_2")]

/** Two invoices of 100 net and 120 with tax. A part is half of one. */
const drafts = accountsOf(ClientId.make("clnt_1"), "ctr_1", [draftInvoice("a", 100), draftInvoice("b", 100)])
export const amounts = [120, 60]
export const credits = ["all", 50] as const

const choicesOf = ({ invoices, notes, payments }: Accounts): Choices => ({
  invoices: [...invoices.values()].map(({ value }): InvoiceKey => value.id),
  payments: paymentIds.slice(0, payments.size),
  newPayments: paymentIds.slice(payments.size, payments.size + 1),
  notes: noteIds.slice(0, notes.size),
  newNotes: noteIds.slice(notes.size, notes.size + 1),
  amounts,
  credits
})

export interface Reached {
  readonly accounts: Accounts
  /** The shortest sequence of operations that leads to the accounts. */
  readonly calls: ReadonlyArray<Call>
}

interface SearchOptions {
  /** The maximum number of operations. */
  readonly depth: number
  /** A guard that is taken out: it refuses nothing. */
  readonly without?: string | undefined
  /** Accounts with the same text are continued once. */
  readonly stateOf?: (accounts: Accounts) => string
}

/** Runs all operations on all accounts that sequences of operations lead to, the shortest sequences first. */
export function* searchSettlements({ depth, stateOf = canonicalState, without }: SearchOptions): Generator<Reached> {
  const seen = new Set([stateOf(drafts)])
  let last: ReadonlyArray<Reached> = [{ accounts: drafts, calls: [] }]
  yield* last
  for (let length = 1; length <= depth && last.length > 0; length++) {
    const next: Array<Reached> = []
    for (const { accounts, calls } of last) {
      const choices = choicesOf(accounts)
      for (const call of operations.flatMap((operation) => operation.calls(choices, accounts))) {
        if (findRefusal(call, accounts, without) !== undefined) continue
        const reached = { accounts: call.effect(accounts), calls: [...calls, call] }
        const state = stateOf(reached.accounts)
        if (seen.has(state)) continue
        seen.add(state)
        next.push(reached)
        yield reached
      }
    }
    last = next
  }
}

const nouns: Readonly<Record<string, string>> = { inv: "invoice", pay: "payment", crn: "credit note" }

/** A sequence of operations and what is wrong after it, in lines. */
const explain = (calls: ReadonlyArray<Call>, violations: ReadonlyArray<string>) =>
  [...calls.map(({ text }) => text), ...violations.map((violation) => `=> ${violation}`)].map((line) =>
    line.replaceAll(/\b(inv|pay|crn)_(\w+)/g, (_, prefix: string, id: string) => `${nouns[prefix]} ${id.toUpperCase()}`)
  )

/** What is wrong in accounts, with the operations that lead there. */
export const explainViolations = ({ accounts, calls }: Reached): ReadonlyArray<string> => {
  const violations = findViolations(accounts)
  return violations.length === 0 ? [] : explain(calls, violations)
}

/** The shortest sequence that breaks a rule. */
export const findShortestViolation = (options: SearchOptions): ReadonlyArray<string> => {
  for (const reached of searchSettlements(options)) {
    const lines = explainViolations(reached)
    if (lines.length > 0) return lines
  }
  return []
}

import { Either } from "effect"
import { type ErrorDetail, requireNoErrors, type ValidationError } from "../../../src/domain/Errors.ts"
import type { Accounts, InvoiceKey, NoteKey, PaymentKey } from "./accounts.ts"

type Decision = Either.Either<unknown, ValidationError>

/** What a search can choose the targets of operations from. */
export interface Choices {
  readonly invoices: ReadonlyArray<InvoiceKey>
  readonly payments: ReadonlyArray<PaymentKey>
  readonly notes: ReadonlyArray<NoteKey>
  /** The identifier of the next payment and of the next note, or none. */
  readonly newPayments: ReadonlyArray<PaymentKey>
  readonly newNotes: ReadonlyArray<NoteKey>
  readonly amounts: ReadonlyArray<number>
  /** What a note credits: a net amount, or everything that is left. */
  readonly credits: ReadonlyArray<number | "all">
}

interface Spec<T> {
  /** The targets that a search tries. */
  readonly targets: (choices: Choices, accounts: Accounts) => ReadonlyArray<T>
  /** What the operation does, in words, with identifiers. */
  readonly toText: (target: T) => string
  /** The decisions that can refuse it, by their rules. All of them are independent of each other. */
  readonly guards: Readonly<Record<string, (accounts: Accounts, target: T) => Decision>>
  /** The accounts after the operation, whatever its guards say. */
  readonly effect: (accounts: Accounts, target: T) => Accounts
}

interface Guard {
  readonly name: string
  readonly decide: (accounts: Accounts) => Decision
}

/** An operation on its target. */
export interface Call {
  readonly operation: string
  readonly text: string
  readonly guards: ReadonlyArray<Guard>
  readonly effect: (accounts: Accounts) => Accounts
}

export interface Operation<T> {
  readonly name: string
  readonly guardNames: ReadonlyArray<string>
  readonly targets: Spec<T>["targets"]
  readonly call: (target: T) => Call
  readonly calls: (choices: Choices, accounts: Accounts) => ReadonlyArray<Call>
}

/** An operation of settlement: what it may be done to, and what it does. */
export const operation = <T>(name: string, { effect, guards, targets, toText }: Spec<T>): Operation<T> => {
  const named = Object.entries(guards).map(([rule, decide]) => ({ name: `${name}: ${rule}`, decide }))
  const call = (target: T): Call => ({
    operation: name,
    text: toText(target),
    guards: named.map((guard) => ({ name: guard.name, decide: (accounts) => guard.decide(accounts, target) })),
    effect: (accounts) => effect(accounts, target)
  })
  return {
    name,
    guardNames: named.map((guard) => guard.name),
    targets,
    call,
    calls: (choices: Choices, accounts: Accounts) => targets(choices, accounts).map(call)
  }
}

/** All combinations of these choices. */
export const combine = <T extends object>(
  choices: { readonly [K in keyof T]: ReadonlyArray<T[K]> }
): ReadonlyArray<T> =>
  Object.entries<ReadonlyArray<unknown>>(choices).reduce<ReadonlyArray<object>>(
    (partial, [key, values]) => partial.flatMap((one) => values.map((value) => ({ ...one, [key]: value }))),
    [{}]
  ) as ReadonlyArray<T> // Each has every key of the choices.

const detailsOf = (decision: Decision): ReadonlyArray<ErrorDetail> =>
  // The details of a decision of the domain have its constraints.
  Either.isLeft(decision) ? ((decision.left.details ?? []) as ReadonlyArray<ErrorDetail>) : []

/** The part of a decision about a field. */
export const about = (field: string, decision: Decision) =>
  requireNoErrors(detailsOf(decision).filter((detail) => detail.field === field))

/** The part of errors with a constraint. */
export const violating = (constraint: ErrorDetail["constraint"], details: ReadonlyArray<ErrorDetail>) =>
  requireNoErrors(details.filter((detail) => detail.constraint === constraint))

/** The name of the first guard that refuses a call, of those that are not taken out. */
export const findRefusal = (call: Call, accounts: Accounts, without?: string) =>
  call.guards.find(({ decide, name }) => name !== without && Either.isLeft(decide(accounts)))?.name

/** Operations in lines. */
export const textOf = (calls: ReadonlyArray<Call>) => calls.map(({ text }) => text).join("\n")

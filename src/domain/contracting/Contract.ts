import { Schema } from "effect"
import type { Detail } from "../Errors.ts"
import { id } from "../Ids.ts"
import { CurrencyCode } from "../money/Currency.ts"
import { body, defaulting, integer, Moment, Order, oneOf, optional, patch, stamps, text } from "../Schemas.ts"
import { Client, ClientId } from "./Client.ts"

export const ContractId = id("ctr", "contract")

export const ContractStatus = oneOf("DRAFT", "ACTIVE", "ENDED")
export type ContractStatus = typeof ContractStatus.Type

/** Where a contract may go from where it is. */
export const contractMoves: Readonly<Record<ContractStatus, ReadonlyArray<ContractStatus>>> = {
  DRAFT: ["ACTIVE"],
  ACTIVE: ["ENDED"],
  ENDED: []
}

const writable = {
  name: text(1, 255),
  description: optional(text(0, 1024)),
  status: ContractStatus,
  currencyCode: CurrencyCode,
  startsAt: optional(Moment),
  endsAt: optional(Moment),
  paymentTermDays: integer(0, 365),
  capMinor: optional(integer(0, Number.MAX_SAFE_INTEGER)),
  order: optional(Order)
}

export const Contract = Schema.Struct({ id: ContractId, client: ClientId, ...writable, ...stamps }).annotations({
  identifier: "Contract"
})
export type Contract = typeof Contract.Type

/** A contract with as much of its client as was asked for. */
export const ContractInFull = Schema.Struct({ ...Contract.fields, client: Schema.Union(ClientId, Client) }).annotations(
  { identifier: "ContractInFull" }
)

/** What a contract has unless its maker says otherwise. */
const usual = { status: "DRAFT", paymentTermDays: 30 } as const

/** One cannot begin at its end. */
export const CreateContract = body({
  clientId: ClientId,
  ...writable,
  status: defaulting(oneOf("DRAFT", "ACTIVE"), usual.status),
  paymentTermDays: defaulting(writable.paymentTermDays, usual.paymentTermDays)
}).annotations({ identifier: "CreateContract" })

/** The contract with what its maker left out filled in. */
export const filledContract = ({ clientId, ...fields }: typeof CreateContract.Type) => ({
  ...usual,
  ...fields,
  client: clientId
})

export const PatchContract = patch(writable).annotations({ identifier: "PatchContract" })

type Terms = Pick<Contract, "status" | "startsAt" | "endsAt">

const periodFaults = ({ endsAt, startsAt }: Terms): ReadonlyArray<Detail> =>
  startsAt === undefined || endsAt === undefined || endsAt > startsAt
    ? []
    : [{ field: "endsAt", constraint: "min", message: "must be after startsAt" }]

const moveFaults = (from: ContractStatus, to: ContractStatus): ReadonlyArray<Detail> =>
  from === to || contractMoves[from].includes(to)
    ? []
    : [{ field: "status", constraint: "state", message: `cannot go from ${from} to ${to}` }]

/** What the business objects to in a contract, or in its change from what it was before. */
export const contractFaults = (after: Terms, before: Terms = after): ReadonlyArray<Detail> => [
  ...moveFaults(before.status, after.status),
  ...periodFaults(after)
]

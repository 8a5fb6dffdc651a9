import { Schema } from "effect"
import type { Detail } from "../Errors.ts"
import { id } from "../Ids.ts"
import { CurrencyCode } from "../money/Currency.ts"
import { body, defaulting, integer, Moment, Order, oneOf, optional, patch, stamps, text } from "../Schemas.ts"
import { Client, ClientId } from "./Client.ts"

export const ContractId = id("ctr", "contract")

export const ContractStatus = oneOf("DRAFT", "ACTIVE", "ENDED")
export type ContractStatus = typeof ContractStatus.Type

/** Allowed status transitions. */
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

/** A contract whose client is expanded on request. */
export const ContractInFull = Schema.Struct({ ...Contract.fields, client: Schema.Union(ClientId, Client) }).annotations(
  { identifier: "ContractInFull" }
)

const defaults = { status: "DRAFT", paymentTermDays: 30 } as const

/** A contract cannot be created as ENDED. */
export const CreateContract = body({
  clientId: ClientId,
  ...writable,
  status: defaulting(oneOf("DRAFT", "ACTIVE"), defaults.status),
  paymentTermDays: defaulting(writable.paymentTermDays, defaults.paymentTermDays)
}).annotations({ identifier: "CreateContract" })

/** Applies the defaults to a create request. */
export const filledContract = ({ clientId, ...fields }: typeof CreateContract.Type) => ({
  ...defaults,
  ...fields,
  client: clientId
})

export const PatchContract = patch(writable).annotations({ identifier: "PatchContract" })

type Terms = Pick<Contract, "status" | "startsAt" | "endsAt">

const periodErrors = ({ endsAt, startsAt }: Terms): ReadonlyArray<Detail> =>
  startsAt === undefined || endsAt === undefined || endsAt > startsAt
    ? []
    : [{ field: "endsAt", constraint: "min", message: "must be after startsAt" }]

const transitionErrors = (from: ContractStatus, to: ContractStatus): ReadonlyArray<Detail> =>
  from === to || contractMoves[from].includes(to)
    ? []
    : [{ field: "status", constraint: "state", message: `cannot go from ${from} to ${to}` }]

/** Validation errors of a new contract, or of a change from `before` to `after`. */
export const contractFaults = (after: Terms, before: Terms = after): ReadonlyArray<Detail> => [
  ...transitionErrors(before.status, after.status),
  ...periodErrors(after)
]

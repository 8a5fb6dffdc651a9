import { Either, Schema } from "effect"
import { type ErrorDetail, requireNoErrors, type ValidationError } from "../Errors.ts"
import { id } from "../Ids.ts"
import { CurrencyCode } from "../money/Currency.ts"
import {
  body,
  integer,
  Order,
  oneOf,
  optional,
  optionalWithDefault,
  patch,
  text,
  timestamps,
  UtcDateTime
} from "../Schemas.ts"
import { Client, ClientId } from "./Client.ts"

export const ContractId = id("ctr", "contract")

export const ContractStatus = oneOf("DRAFT", "ACTIVE", "ENDED")
export type ContractStatus = typeof ContractStatus.Type

/** Allowed status transitions. */
export const contractTransitions: Readonly<Record<ContractStatus, ReadonlyArray<ContractStatus>>> = {
  DRAFT: ["ACTIVE"],
  ACTIVE: ["ENDED"],
  ENDED: []
}

const writable = {
  name: text(1, 255),
  description: optional(text(0, 1024)),
  status: ContractStatus,
  currencyCode: CurrencyCode,
  startsAt: optional(UtcDateTime),
  endsAt: optional(UtcDateTime),
  paymentTermDays: integer(0, 365),
  capMinor: optional(integer(0, Number.MAX_SAFE_INTEGER)),
  order: optional(Order)
}

export const Contract = Schema.Struct({ id: ContractId, client: ClientId, ...writable, ...timestamps }).annotations({
  identifier: "Contract"
})
export type Contract = typeof Contract.Type

/** A contract whose client is expanded on request. */
export const ExpandedContract = Schema.Struct({
  ...Contract.fields,
  client: Schema.Union(ClientId, Client)
}).annotations({ identifier: "ContractInFull" })

const defaults = { status: "DRAFT", paymentTermDays: 30 } as const

/** A contract cannot be created as ENDED. */
export const CreateContract = body({
  clientId: ClientId,
  ...writable,
  status: optionalWithDefault(oneOf("DRAFT", "ACTIVE"), defaults.status),
  paymentTermDays: optionalWithDefault(writable.paymentTermDays, defaults.paymentTermDays)
}).annotations({ identifier: "CreateContract" })

/** Applies the defaults to a create request. */
export const applyContractDefaults = ({ clientId, ...fields }: typeof CreateContract.Type) => ({
  ...defaults,
  ...fields,
  client: clientId
})

export const PatchContract = patch(writable).annotations({ identifier: "PatchContract" })

type Terms = Pick<Contract, "status" | "startsAt" | "endsAt">

const periodErrors = ({ endsAt, startsAt }: Terms): ReadonlyArray<ErrorDetail> =>
  startsAt === undefined || endsAt === undefined || endsAt > startsAt
    ? []
    : [{ field: "endsAt", constraint: "min", message: "must be after startsAt" }]

const transitionErrors = (from: ContractStatus, to: ContractStatus): ReadonlyArray<ErrorDetail> =>
  from === to || contractTransitions[from].includes(to)
    ? []
    : [{ field: "status", constraint: "state", message: `cannot go from ${from} to ${to}` }]

/** Validation errors of a new contract, or of a change from `before` to `after`. */
export const contractErrors = (after: Terms, before: Terms = after): ReadonlyArray<ErrorDetail> => [
  ...transitionErrors(before.status, after.status),
  ...periodErrors(after)
]

/** The contract, if it has no validation errors. */
export const requireValidContract = <A extends Terms>(contract: A, before?: Terms): Either.Either<A, ValidationError> =>
  Either.map(requireNoErrors(contractErrors(contract, before)), () => contract)

import { Either, Schema } from "effect"
import { type ErrorDetail, requireNoErrors, type ValidationError } from "../Errors.ts"
import { id } from "../Ids.ts"
import { CurrencyCode } from "../money/Currency.ts"
import {
  body,
  field,
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
import { defaultTaxRateIds, defaultTaxRates, toDefaultTaxRates } from "../taxes/TaxRate.ts"
import { Client, ClientId } from "./Client.ts"

export const ContractId = id("ctr", "contract")

export const ContractStatus = field(
  oneOf("DRAFT", "ACTIVE", "ENDED"),
  "DRAFT: being negotiated, cannot be invoiced. ACTIVE: in force. ENDED: over, can still be invoiced.",
  "ACTIVE"
)
export type ContractStatus = typeof ContractStatus.Type

/** The fields that a list of contracts can be sorted by. */
export const contractSorts = ["name", "createdAt"] as const

/** Allowed status transitions. */
export const contractTransitions: Readonly<Record<ContractStatus, ReadonlyArray<ContractStatus>>> = {
  DRAFT: ["ACTIVE"],
  ACTIVE: ["ENDED"],
  ENDED: []
}

const writable = {
  name: field(text(1, 255), "Name of the contract, as invoices show it.", "Maintenance"),
  description: optional(field(text(0, 1024), "Free text about what was agreed.", "Two inspections a year")),
  status: ContractStatus,
  currencyCode: field(CurrencyCode, "Currency of all its invoices, as an ISO 4217 code.", "EUR"),
  startsAt: optional(field(UtcDateTime, "When the contract begins.", "2026-01-01T00:00:00.000Z")),
  endsAt: optional(field(UtcDateTime, "When the contract ends, after `startsAt`.", "2026-12-31T00:00:00.000Z")),
  paymentTermDays: field(integer(0, 365), "Days from the issue of an invoice until it is due.", 30),
  capMinor: optional(
    field(
      integer(0, Number.MAX_SAFE_INTEGER),
      "Most that all invoices of the contract together can bill, void ones excluded, in minor units.",
      5_000_000
    )
  ),
  order: optional(Order)
}

const aboutTaxRates = "Tax rates of new lines that name none. [] means no tax. Default: those of the tenant."

const writableInRequests = { ...writable, ...defaultTaxRateIds(aboutTaxRates) }

const client = field(ClientId, "The client that the contract is with.")

export const Contract = Schema.Struct({
  id: ContractId,
  client,
  ...writable,
  ...defaultTaxRates(aboutTaxRates),
  ...timestamps
}).annotations({
  identifier: "Contract",
  description: "An agreement with a client: its currency, its period, and how much it can bill."
})
export type Contract = typeof Contract.Type

/** A contract whose client is expanded on request. */
export const ExpandedContract = Schema.Struct({
  ...Contract.fields,
  client: field(Schema.Union(ClientId, Client), "Identifier of the client, or the client itself if it is expanded.")
}).annotations({ identifier: "ContractExpanded", description: "A contract, with its client if it was asked for." })

const defaults = { status: "DRAFT", paymentTermDays: 30 } as const

/** A contract cannot be created as ENDED. */
export const CreateContract = body({
  clientId: client,
  ...writableInRequests,
  status: optionalWithDefault(
    field(oneOf("DRAFT", "ACTIVE"), "DRAFT: being negotiated, cannot be invoiced. ACTIVE: in force.", "ACTIVE"),
    defaults.status
  ),
  paymentTermDays: optionalWithDefault(writable.paymentTermDays, defaults.paymentTermDays)
}).annotations({ identifier: "CreateContract", description: "A new contract with a client." })

/** Applies the defaults to a create request. */
export const applyContractDefaults = ({ clientId, ...fields }: typeof CreateContract.Type) => ({
  ...defaults,
  ...toDefaultTaxRates(fields),
  client: clientId
})

export const PatchContract = patch(writableInRequests).annotations({
  identifier: "PatchContract",
  description: "The fields of a contract to change."
})

type Terms = Pick<Contract, "status" | "startsAt" | "endsAt">

const periodErrors = ({ endsAt, startsAt }: Terms): ReadonlyArray<ErrorDetail> =>
  startsAt === undefined || endsAt === undefined || endsAt > startsAt
    ? []
    : [{ field: "endsAt", constraint: "min", message: `must be after startsAt, ${startsAt}, but is ${endsAt}` }]

const describeTransitions = (from: ContractStatus) => {
  const allowed = contractTransitions[from]
  return allowed.length === 0 ? "is final" : `can only change to ${allowed.join(" or ")}`
}

const transitionErrors = (from: ContractStatus, to: ContractStatus): ReadonlyArray<ErrorDetail> =>
  from === to || contractTransitions[from].includes(to)
    ? []
    : [
        {
          field: "status",
          constraint: "state",
          message: `cannot change from ${from} to ${to}: ${from} ${describeTransitions(from)}`
        }
      ]

/** Validation errors of a new contract, or of a change from `before` to `after`. */
export const contractErrors = (after: Terms, before: Terms = after): ReadonlyArray<ErrorDetail> => [
  ...transitionErrors(before.status, after.status),
  ...periodErrors(after)
]

/** The contract, if it has no validation errors. */
export const requireValidContract = <A extends Terms>(contract: A, before?: Terms): Either.Either<A, ValidationError> =>
  Either.map(requireNoErrors(contractErrors(contract, before)), () => contract)

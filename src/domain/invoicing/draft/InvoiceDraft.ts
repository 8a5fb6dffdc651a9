import { Either } from "effect"
import type { Contract } from "../../contracting/Contract.ts"
import { fieldError, requireNoErrors, type ValidationError } from "../../Errors.ts"
import { discountReasonErrors } from "../Discount.ts"
import type { CreateInvoice, Invoice } from "../Invoice.ts"
import { headerErrors } from "../InvoiceHeader.ts"

type DraftFields = Omit<Invoice, "id" | "createdAt" | "updatedAt">

const emptyDraft = {
  status: "DRAFT",
  subtotalMinor: 0,
  discountMinor: 0,
  taxes: [],
  taxMinor: 0,
  totalMinor: 0,
  paidMinor: 0,
  creditedMinor: 0,
  writtenOffMinor: 0,
  balanceMinor: 0,
  billableCount: 0
} as const

/** The empty draft that a request creates under a contract, in the contract's currency. */
export const draftOf = (
  contract: Pick<Contract, "id" | "status" | "currencyCode">,
  { contractId: _, currencyCode, ...fields }: typeof CreateInvoice.Type
): Either.Either<DraftFields, ValidationError> => {
  if (contract.status === "DRAFT")
    return Either.left(
      fieldError("contractId", "state", "is a DRAFT contract; only ACTIVE and ENDED contracts can be invoiced")
    )
  if (currencyCode !== undefined && currencyCode !== contract.currencyCode)
    return Either.left(
      fieldError(
        "currencyCode",
        "currency",
        `must be ${contract.currencyCode}, the currency of the contract, but is ${currencyCode}`
      )
    )
  const draft = { ...emptyDraft, ...fields, contract: contract.id, currencyCode: contract.currencyCode }
  return Either.map(requireNoErrors([...discountReasonErrors(draft), ...headerErrors(draft)]), () => draft)
}

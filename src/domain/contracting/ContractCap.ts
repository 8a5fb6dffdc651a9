import { Either } from "effect"
import { fieldError, type ValidationError } from "../Errors.ts"
import { formatAmount } from "../money/AmountFormat.ts"
import { maxMinor, sumMinor } from "../money/Money.ts"

/** What a contract has billed, and how much it may bill. */
export interface BilledContract {
  readonly id: string
  readonly currencyCode: string
  readonly capMinor: number | null
  readonly billedMinor: number
}

const capExceededError = (
  field: string,
  { capMinor, currencyCode, id }: BilledContract,
  billedMinor: number | undefined
) => {
  const toText = (minor: number) => `${formatAmount(minor, currencyCode)} ${currencyCode}`
  const billed = billedMinor === undefined ? `more than ${toText(maxMinor)}` : toText(billedMinor)
  const cap = capMinor === null ? "" : `, above its capMinor of ${toText(capMinor)}`
  return fieldError(field, "max", `would bring the billed amount of contract ${id} to ${billed}${cap}`)
}

/**
 * The billed amount of a contract after these changes, in minor units. Fails with an error of `field` beyond the cap.
 * A change that lowers the amount always passes, because the cap may have been lowered meanwhile.
 */
export const billedAfter = (
  contract: BilledContract,
  changes: ReadonlyArray<number>,
  field: string
): Either.Either<number, ValidationError> => {
  const { billedMinor, capMinor } = contract
  const total = sumMinor(billedMinor, ...changes)
  return total === undefined || (total > billedMinor && total > (capMinor ?? total))
    ? Either.left(capExceededError(field, contract, total))
    : Either.right(total)
}

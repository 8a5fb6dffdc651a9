import { isSEPACountry } from "ibantools"
import { formatAmount } from "../money/AmountFormat.ts"
import type { BankAccount } from "../money/BankAccount.ts"

/** A transfer that a QR code proposes. */
export interface Transfer {
  readonly account: BankAccount
  readonly currencyCode: string
  readonly amountMinor: number
  readonly reference: string
}

/** Bounds of EPC069-12. */
const maxAmountMinor = 99_999_999_999
const maxNameLength = 70
const maxReferenceLength = 140
const maxPayloadBytes = 331

/** Elements are lines, so that a text must not contain one. */
const toElement = (text: string) => text.replace(/\s+/g, " ").trim()

const payloadOf = ({ account: { bic = "", iban }, amountMinor, reference }: Transfer, name: string) =>
  [
    "BCD",
    "002",
    "1", // UTF-8
    "SCT",
    bic,
    name,
    iban,
    `EUR${formatAmount(amountMinor, "EUR").replaceAll(",", "")}`,
    "", // purpose
    "", // structured reference
    reference
  ].join("\n")

/** The name, cut by characters until the payload fits. It only tells the payer whom the IBAN belongs to. */
const fitName = (transfer: Transfer) => {
  const characters = Array.from(toElement(transfer.account.name)).slice(0, maxNameLength)
  while (characters.length > 1 && Buffer.byteLength(payloadOf(transfer, characters.join(""))) > maxPayloadBytes)
    characters.pop()
  return characters.join("").trim()
}

/**
 * The content of a QR code for a SEPA credit transfer: EPC069-12, version 002. Undefined for a transfer that the
 * guideline does not cover.
 */
export const epcPayloadOf = (given: Transfer): string | undefined => {
  const transfer = { ...given, reference: toElement(given.reference) }
  const { account, amountMinor, currencyCode, reference } = transfer
  if (currencyCode !== "EUR" || amountMinor < 1 || amountMinor > maxAmountMinor) return undefined
  if (!isSEPACountry(account.iban.slice(0, 2)) || reference.length > maxReferenceLength) return undefined
  const payload = payloadOf(transfer, fitName(transfer))
  return Buffer.byteLength(payload) <= maxPayloadBytes ? payload : undefined
}

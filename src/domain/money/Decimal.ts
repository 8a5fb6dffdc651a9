/** An exact decimal number: `digits` divided by ten to the power of `scale`. */
export interface Decimal {
  readonly digits: bigint
  readonly scale: number
}

/** Converts a number by its shortest decimal notation, which is what the client sent: 1.005 is 1005 over 1000. */
export const toDecimal = (value: number): Decimal => {
  const [mantissa = "0", exponent = "0"] = String(value).split("e")
  const [whole = "0", fraction = ""] = mantissa.split(".")
  const scale = fraction.length - Number(exponent)
  const digits = BigInt(whole + fraction)
  return scale >= 0 ? { digits, scale } : { digits: digits * 10n ** BigInt(-scale), scale: 0 }
}

export const multiplyDecimal = ({ digits, scale }: Decimal, factor: bigint): Decimal => ({
  digits: digits * factor,
  scale
})

// Stryker disable next-line EqualityOperator: zero has no sign, so it may take either branch
const magnitudeOf = (digits: bigint) => (digits < 0n ? -digits : digits)

/** Rounds to the nearest integer, half away from zero. */
export const roundDecimal = ({ digits, scale }: Decimal) => {
  const unit = 10n ** BigInt(scale)
  const nearest = (2n * magnitudeOf(digits) + unit) / (2n * unit)
  return digits < 0n ? -nearest : nearest
}

/** Formats without an exponent and without trailing zeros. */
export const formatDecimal = ({ digits, scale }: Decimal) => {
  const padded = String(magnitudeOf(digits)).padStart(scale + 1, "0")
  const whole = padded.slice(0, padded.length - scale)
  const fraction = padded.slice(padded.length - scale).replace(/0+$/, "")
  return `${digits < 0n ? "-" : ""}${whole}${fraction === "" ? "" : `.${fraction}`}`
}

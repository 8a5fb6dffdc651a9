/** An exact decimal number: `digits` divided by ten to the power of `scale`. */
export interface Decimal {
  readonly digits: bigint
  readonly scale: number
}

/** Converts a number by its shortest decimal notation, which is what the client sent: 1.005 is 1005 over 1000. */
export const toDecimal = (value: number): Decimal => {
  const [mantissa = "0", exponent = 0] = String(value).split("e")
  const [whole = "0", fraction = ""] = mantissa.split(".")
  const scale = fraction.length - Number(exponent)
  return { digits: BigInt(whole + fraction) * 10n ** BigInt(Math.max(-scale, 0)), scale: Math.max(scale, 0) }
}

export const multiplyDecimal = ({ digits, scale }: Decimal, factor: bigint): Decimal => ({
  digits: digits * factor,
  scale
})

/** Rounds to the nearest integer, half away from zero. The division itself truncates toward zero. */
export const roundDecimal = ({ digits, scale }: Decimal) => {
  const unit = 10n ** BigInt(scale)
  // Stryker disable next-line EqualityOperator: zero rounds to zero in either branch
  const half = digits < 0n ? -unit : unit
  return (2n * digits + half) / (2n * unit)
}

/** Formats without an exponent and without trailing zeros. */
export const formatDecimal = ({ digits, scale }: Decimal) => {
  const isNegative = digits < 0n
  const padded = String(isNegative ? -digits : digits).padStart(scale + 1, "0")
  const whole = padded.slice(0, padded.length - scale)
  const fraction = padded.slice(padded.length - scale).replace(/0+$/, "")
  return `${isNegative ? "-" : ""}${whole}${fraction === "" ? "" : `.${fraction}`}`
}

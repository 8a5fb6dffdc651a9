/** An exact decimal number: `digits` divided by ten to the power of `scale`. */
export interface Decimal {
  readonly digits: bigint
  readonly scale: number
}

/** Converts a number by its shortest decimal notation, which is what the client sent: 1.005 is 1005 over 1000. */
export const toDecimal = (value: number | string): Decimal => {
  const [mantissa = "0", exponent = 0] = String(value).split("e")
  const [whole = "0", fraction = ""] = mantissa.split(".")
  const scale = fraction.length - Number(exponent)
  return { digits: BigInt(whole + fraction) * 10n ** BigInt(Math.max(-scale, 0)), scale: Math.max(scale, 0) }
}

/** The digits of two numbers with the same scale. */
const align = (a: Decimal, b: Decimal) => {
  const scale = Math.max(a.scale, b.scale)
  return [a.digits * 10n ** BigInt(scale - a.scale), b.digits * 10n ** BigInt(scale - b.scale), scale] as const
}

export const addDecimal = (a: Decimal, b: Decimal): Decimal => {
  const [one, other, scale] = align(a, b)
  return { digits: one + other, scale }
}

export const subtractDecimal = (a: Decimal, b: Decimal): Decimal => addDecimal(a, { ...b, digits: -b.digits })

/** -1, 0 or 1, as `a` is below, equal to or above `b`. */
export const compareDecimals = (a: Decimal, b: Decimal) => {
  const [one, other] = align(a, b)
  return one === other ? 0 : one < other ? -1 : 1
}

/** The quotient of two numbers as a fraction of integers. */
export const divideDecimal = (dividend: Decimal, divisor: Decimal) => {
  const [numerator, denominator] = align(dividend, divisor)
  return { numerator, denominator }
}

export const multiplyDecimal = ({ digits, scale }: Decimal, factor: bigint): Decimal => ({
  digits: digits * factor,
  scale
})

/** The quotient of integers, rounded half away from zero. The division itself truncates toward zero. */
export const divideRounded = (numerator: bigint, denominator: bigint) => {
  // Stryker disable next-line EqualityOperator: zero rounds to zero in either branch
  const half = numerator < 0n === denominator < 0n ? denominator : -denominator
  return (2n * numerator + half) / (2n * denominator)
}

/** Rounds to the nearest integer, half away from zero. */
export const roundDecimal = ({ digits, scale }: Decimal) => divideRounded(digits, 10n ** BigInt(scale))

/** Formats without an exponent and without trailing zeros. */
export const formatDecimal = ({ digits, scale }: Decimal) => {
  const isNegative = digits < 0n
  const padded = String(isNegative ? -digits : digits).padStart(scale + 1, "0")
  const whole = padded.slice(0, padded.length - scale)
  const fraction = padded.slice(padded.length - scale).replace(/0+$/, "")
  return `${isNegative ? "-" : ""}${whole}${fraction === "" ? "" : `.${fraction}`}`
}

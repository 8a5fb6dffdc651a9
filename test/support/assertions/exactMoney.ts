/** A fraction of whole numbers, of which the lower is positive. */
export interface Ratio {
  readonly over: bigint
  readonly under: bigint
}

/** The largest amount JSON carries without loss. */
export const maxSafe = 2n ** 53n - 1n

/** What the JSON text of a number says, read digit by digit. */
export const ratioOf = (value: number): Ratio => {
  const [, sign, digits = "", exponent = "0"] = /^(-?)([\d.]+)(?:e\+?(-?\d+))?$/.exec(JSON.stringify(value)) ?? []
  let over = 0n
  let under = 1n
  let isFraction = false
  for (const digit of digits) {
    if (digit === ".") isFraction = true
    else {
      over = over * 10n + BigInt(digit)
      if (isFraction) under *= 10n
    }
  }
  for (let power = Number(exponent); power > 0; power--) over *= 10n
  for (let power = Number(exponent); power < 0; power++) under *= 10n
  return { over: sign === "-" ? -over : over, under }
}

/** To the nearest whole number, from the middle away from zero. */
export const roundHalfAwayFromZero = ({ over, under }: Ratio) => {
  const size = over < 0n ? -over : over
  const whole = size / under + (2n * (size % under) >= under ? 1n : 0n)
  return over < 0n ? -whole : whole
}

/** What a line must come to, however large that is. */
export const exactLineTotal = (quantity: number, amountMinor: number) => {
  const { over, under } = ratioOf(quantity)
  return roundHalfAwayFromZero({ over: over * BigInt(amountMinor), under })
}

export const isSafe = (amount: bigint) => -maxSafe <= amount && amount <= maxSafe

import { exactLineTotal, ratioOf, roundHalfAwayFromZero } from "./exactMoney.ts"

/** An invoice as a request describes it. Rates are given with their terms. */
export interface ExactRate {
  readonly id: string
  readonly name: string
  readonly percent: number
  readonly category?: string
}
export interface ExactDiscount {
  readonly percent?: number
  readonly amountMinor?: number
}
export interface ExactLine {
  readonly quantity: number
  readonly amountMinor: number
  readonly discount?: ExactDiscount
  readonly rates: ReadonlyArray<ExactRate>
}

const percentOf = (base: bigint, percent: number) => {
  const { over, under } = ratioOf(percent)
  return roundHalfAwayFromZero({ over: over * base, under: under * 100n })
}

const discountOf = (base: bigint, { amountMinor = 0, percent }: ExactDiscount) =>
  percent === undefined ? BigInt(amountMinor) : percentOf(base, percent)

export const exactLine = ({ amountMinor, discount = {}, quantity }: ExactLine) => {
  const product = exactLineTotal(quantity, amountMinor)
  const taken = discountOf(product, discount)
  return { discount: taken, net: product - taken }
}

/** Gives the units of a discount one by one to the set that is furthest behind its exact share. */
const shareOut = (discount: bigint, nets: ReadonlyArray<{ key: string; net: bigint }>) => {
  const positive = nets.filter(({ net }) => net > 0n).sort((a, b) => (a.key < b.key ? -1 : 1))
  const all = positive.reduce((sum, { net }) => sum + net, 0n)
  const shares = new Map<string, bigint>()
  let left = discount
  for (const { key, net } of positive) {
    shares.set(key, (discount * net) / all)
    left -= (discount * net) / all
  }
  const open = [...positive]
  for (; left > 0n; left--) {
    let best = 0
    for (const [index, { net }] of open.entries()) {
      const [one, other] = [(discount * net) % all, (discount * (open[best]?.net ?? 0n)) % all]
      if (one > other) best = index
    }
    const [chosen] = open.splice(best, 1)
    if (chosen !== undefined) shares.set(chosen.key, (shares.get(chosen.key) ?? 0n) + 1n)
  }
  return shares
}

const categories = "S Z E AE K G O".split(" ")

/** Adds an invoice up line by line, with fractions of whole numbers and without any code of the service. */
export const exactInvoice = (lines: ReadonlyArray<ExactLine>, discount: ExactDiscount = {}) => {
  const nets = new Map<string, bigint>()
  const rates = new Map<string, ReadonlyArray<ExactRate>>()
  let subtotal = 0n
  for (const line of lines) {
    const key = line.rates
      .map(({ id }) => id)
      .sort()
      .join(" ")
    rates.set(key, line.rates)
    nets.set(key, (nets.get(key) ?? 0n) + exactLine(line).net)
    subtotal += exactLine(line).net
  }
  const available = subtotal > 0n ? subtotal : 0n
  const wanted = discountOf(available, discount)
  const taken = wanted > available ? available : wanted
  const shares = shareOut(
    taken,
    [...nets].map(([key, net]) => ({ key, net }))
  )
  const bases = new Map<string, { rate: ExactRate; base: bigint }>()
  for (const [key, net] of nets)
    for (const rate of rates.get(key) ?? []) {
      const row = `${rate.category ?? "-"}/${rate.category === undefined ? rate.name : ""}/${rate.percent}`
      const base = (bases.get(row)?.base ?? 0n) + net - (shares.get(key) ?? 0n)
      bases.set(row, { rate, base })
    }
  const taxes = [...bases.values()]
    .map(({ base, rate }) => ({ rate, base, tax: percentOf(base, rate.percent) }))
    .sort((a, b) => {
      const [one, other] = [a.rate, b.rate]
      if (one.category !== other.category) {
        if (one.category === undefined) return 1
        if (other.category === undefined) return -1
        return categories.indexOf(one.category) - categories.indexOf(other.category)
      }
      if (one.category === undefined && one.name !== other.name) return one.name < other.name ? -1 : 1
      return other.percent - one.percent
    })
  const tax = taxes.reduce((sum, row) => sum + row.tax, 0n)
  return { subtotal, discount: taken, shares, taxes, tax, total: subtotal - taken + tax }
}

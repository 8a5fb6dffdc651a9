import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type ExactDiscount, type ExactLine, exactInvoice, exactLine } from "../../support/assertions/exactInvoice.ts"
import { exactLineTotal } from "../../support/assertions/exactMoney.ts"
import { readPdf, rowsOf } from "../../support/assertions/pdfText.ts"
import { caseCount } from "../../support/caseCount.ts"
import { invoiceClient, type TaxBody } from "../../support/fixtures/invoices.ts"
import {
  integerBetween,
  makeRandom,
  type Random,
  randomInvoice,
  randomRates
} from "../../support/fixtures/randomInvoices.ts"
import { resourceMaker } from "../../support/fixtures/resources.ts"
import { taxRateMaker } from "../../support/fixtures/taxRates.ts"
import { type Service, startService } from "../../support/servers/service.ts"

const decimalsByCurrency = { JPY: 0, EUR: 2, KWD: 3 } as const
type Currency = keyof typeof decimalsByCurrency
const currencies = ["JPY", "EUR", "KWD"] as const

/** An amount as a person would write it, made from its digits. */
const writeAmount = (minor: bigint, currency: Currency) => {
  const decimals = decimalsByCurrency[currency]
  const digits = (minor < 0n ? -minor : minor).toString().padStart(decimals + 1, "0")
  const whole = digits.slice(0, digits.length - decimals).replace(/\B(?=(\d{3})+$)/g, ",")
  return `${minor < 0n ? "-" : ""}${whole}${decimals === 0 ? "" : `.${digits.slice(-decimals)}`}`
}

describe("The amounts of random invoices", () => {
  const invoiceCount = caseCount(30, 300)
  const pdfCount = caseCount(5, 30)
  const timeout = 120_000
  const random = makeRandom(17)
  let service: Service
  let client: ReturnType<typeof invoiceClient>
  let contracts: Record<Currency, string>
  /** The created rates by the identifiers of `randomRates`. */
  let rates: Map<string, string>

  beforeAll(async () => {
    service = await startService()
    const tenant = await service.newTenant()
    client = invoiceClient(service, tenant)
    const { createTaxRate } = taxRateMaker(service, tenant)
    const { make } = resourceMaker(service, tenant)
    await make("addresses", { clientId: undefined, vatNumber: "DE123456789" })
    const { id: clientId } = await make("clients")
    await make("addresses", { clientId, vatNumber: "FR12345678901" })
    rates = new Map()
    // Created in the order of their identifiers, so that ties are broken alike.
    for (const { id, ...terms } of [...randomRates].sort((a, b) => (a.id < b.id ? -1 : 1)))
      rates.set(id, (await createTaxRate(terms)).id)
    const contractIn = async (currencyCode: Currency) => (await client.contract({ clientId, currencyCode })).id
    contracts = { JPY: await contractIn("JPY"), EUR: await contractIn("EUR"), KWD: await contractIn("KWD") }
  })
  afterAll(() => service.stop())

  const rateIdOf = (id: string) => rates.get(id) ?? assert.fail(`no rate ${id}`)
  const bodyOf = ({ rates, ...terms }: ExactLine) => ({ ...terms, taxRateIds: rates.map(({ id }) => rateIdOf(id)) })

  /** Creates an invoice in steps: lines in two requests, a line that is deleted, one that is changed, the discount. */
  const create = async (currency: Currency, lines: ReadonlyArray<ExactLine>, discount: ExactDiscount | undefined) => {
    const { add, call, draft } = client
    const { id } = await draft({ contractId: contracts[currency] })
    const half = Math.ceil(lines.length / 2)
    const [superfluous] = await add(id, { amountMinor: 777, taxRateIds: [...rates.values()].slice(0, 1) })
    const created = []
    for (const part of [lines.slice(0, half), lines.slice(half)])
      if (part.length > 0) created.push(...(await add(id, ...part.map(bodyOf))))
    assert.strictEqual((await call("DELETE", `/billables/${superfluous?.id}`)).status, 204)
    const [first] = created
    if (first !== undefined) {
      const { amountMinor, discount, quantity } = lines[0] ?? assert.fail("no line")
      for (const change of [
        // At least the discount of the line, which it must not exceed.
        { quantity: 1, amountMinor: Math.max(999_999_999, Number(discount?.amountMinor ?? 0)) },
        { quantity, amountMinor }
      ]) {
        const { status, text } = await call("PATCH", `/billables/${first.id}`, change)
        assert.strictEqual(status, 200, text)
      }
    }
    if (discount !== undefined) assert.strictEqual((await call("PATCH", `/invoices/${id}`, { discount })).status, 200)
    return { id, created }
  }

  /** A tax of the oracle as the API shows it. Rates of one category and percentage share a row, whatever their names. */
  const toTax = ({ base, rate, tax }: ReturnType<typeof exactInvoice>["taxes"][number]) => ({
    ...(rate.category === undefined ? { name: rate.name } : { category: rate.category }),
    percent: rate.percent,
    baseMinor: Number(base),
    taxMinor: Number(tax)
  })
  const toComparable = ({ baseMinor, category, name, percent, taxMinor }: TaxBody) => ({
    ...(category === undefined ? { name } : { category }),
    percent,
    baseMinor,
    taxMinor
  })

  /** The shares of the discount by tax set. */
  const toShares = (shares: ReadonlyMap<string, bigint>) =>
    [...shares].flatMap(([key, share]) => {
      const ids = key === "" ? [] : key.split(" ").map(rateIdOf)
      return share === 0n ? [] : [`${ids.sort().join(" ")}: ${share}`]
    })

  const assertAmounts = async (
    { created, id }: Awaited<ReturnType<typeof create>>,
    { discount, lines }: ReturnType<typeof randomInvoice>
  ) => {
    const given = JSON.stringify({ lines, discount })
    const exact = exactInvoice(lines, discount)
    const sums = {
      subtotalMinor: Number(exact.subtotal),
      discountMinor: Number(exact.discount),
      taxMinor: Number(exact.tax),
      totalMinor: Number(exact.total)
    }
    const invoice = await client.read(id)
    assert.deepInclude(invoice, sums, given)
    assert.deepStrictEqual(invoice.taxes.map(toComparable), exact.taxes.map(toTax), given)
    assert.deepStrictEqual(
      created.map(({ discountMinor, lineTotalMinor }) => [discountMinor, lineTotalMinor]),
      lines.map((line) => [Number(exactLine(line).discount), Number(exactLine(line).net)]),
      given
    )
    const { data } = (await client.call("GET", `/invoices/${id}/explain`)).body
    assert.deepInclude(data, sums, given)
    assert.deepStrictEqual(
      data.taxes.map(({ baseMinor, taxMinor }: TaxBody) => [baseMinor, taxMinor]),
      exact.taxes.map(({ base, tax }) => [Number(base), Number(tax)]),
      given
    )
    const sets: ReadonlyArray<{ taxRates: ReadonlyArray<string>; discountMinor: number }> = data.taxSets
    assert.sameMembers(
      sets.flatMap(({ discountMinor, taxRates }) =>
        discountMinor === 0 ? [] : [`${taxRates.join(" ")}: ${discountMinor}`]
      ),
      toShares(exact.shares),
      given
    )
  }

  it(`equal those of an independent oracle in API and explain, ${invoiceCount} times`, { timeout }, async () => {
    const invoices = Array.from({ length: invoiceCount }, () => randomInvoice(random, exactLineTotal))
    // The contract of each currency has a lane of its own.
    const runLane = async (currency: Currency, lane: number) => {
      for (const invoice of invoices.filter((_, n) => n % currencies.length === lane))
        await assertAmounts(await create(currency, invoice.lines, invoice.discount), invoice)
    }
    await Promise.all(currencies.map(runLane))
  })

  /** An invoice that can be finalized. */
  const finalizable = (random: Random) => {
    for (;;) {
      const { discount, lines } = randomInvoice(random, exactLineTotal)
      const { subtotal, total } = exactInvoice(lines, discount)
      const isCapped = BigInt(discount?.amountMinor ?? 0) > (subtotal > 0n ? subtotal : 0n)
      if (lines.length > 0 && total >= 0n && !isCapped) return { discount, lines }
    }
  }

  it(`equal those of the oracle on paper, ${pdfCount} times`, { timeout }, async () => {
    for (let n = 0; n < pdfCount; n++) {
      const currency = currencies[integerBetween(random, 0, 2)] ?? "EUR"
      const { discount, lines } = finalizable(random)
      const { id } = await create(currency, lines, discount)
      await client.transition(id, "finalize")
      const exact = exactInvoice(lines, discount)
      const response = await fetch(`${service.url}/api/v1/invoices/${id}/pdf`, {
        headers: { authorization: `Bearer ${await service.token("owner")}`, "tenant-id": client.tenant }
      })
      const { pages } = await readPdf(new Uint8Array(await response.arrayBuffer()))
      const rows = pages.flatMap(rowsOf).map((row) => row.join(" "))
      const write = (minor: bigint) => writeAmount(minor, currency)
      const expected = [
        ...lines.map((line) => write(exactLine(line).net)),
        ...lines.flatMap((line) => (line.discount === undefined ? [] : [write(-exactLine(line).discount)])),
        `Subtotal ${write(exact.subtotal)}`,
        ...(discount === undefined ? [] : [write(-exact.discount)]),
        ...exact.taxes.flatMap(({ base, rate, tax }) => [`${rate.percent} % of ${write(base)} ${write(tax)}`]),
        `Total ${currency} ${write(exact.total)}`
      ]
      const text = rows.join("\n").replaceAll("−", "-")
      for (const part of expected) assert.include(text, part)
    }
  })
})

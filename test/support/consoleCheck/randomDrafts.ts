import type { Page } from "playwright-core"
import { assert } from "vitest"
import { exactLineTotal } from "../assertions/exactMoney.ts"
import { invoiceClient } from "../fixtures/invoices.ts"
import { makeRandom, randomInvoice, randomRates } from "../fixtures/randomInvoices.ts"
import { taxRateMaker } from "../fixtures/taxRates.ts"
import { goTo, type RunningConsole } from "../servers/console.ts"

/** Shows a draft on a page that is signed in. */
export const openDraft = async (page: Page, { tenant }: RunningConsole, id: string) => {
  await goTo(page, `/console/${tenant}/invoices/${id}`)
  await page.waitForSelector(`[data-invoice='${id}'] .totals`)
}

/** Compares the totals that the editor shows with those of the service, on random drafts. */
export const compareTotals = async (
  page: Page,
  console: RunningConsole,
  count: number,
  onDraft: (compared: number) => void = () => {}
) => {
  const invoicing = invoiceClient(console.service, console.tenant)
  const { id: contractId } = await invoicing.contract()
  const { createTaxRate } = taxRateMaker(console.service, console.tenant)
  const rates = new Map<string, string>()
  for (const { id, ...terms } of randomRates) rates.set(id, (await createTaxRate(terms)).id)
  const random = makeRandom(31)
  for (let n = 0; n < count; n++) {
    const { discount, lines } = randomInvoice(random, exactLineTotal)
    const { id } = await invoicing.draft({ contractId, ...(discount === undefined ? {} : { discount }) })
    const bodies = lines.map(({ rates: used, ...line }) => ({
      ...line,
      taxRateIds: used.map((rate) => rates.get(rate.id))
    }))
    if (bodies.length > 0) await invoicing.add(id, ...bodies)
    await openDraft(page, console, id)
    const shown = await page
      .locator(".totals dd")
      .evaluateAll((cells) => cells.map((cell) => cell.getAttribute("data-amount")))
    const { discountMinor, subtotalMinor, taxes, totalMinor } = await invoicing.read(id)
    const expected = [
      subtotalMinor,
      ...(discountMinor > 0 ? [-discountMinor] : []),
      ...taxes.map(({ taxMinor }) => taxMinor),
      totalMinor
    ]
    assert.deepStrictEqual(shown, expected.map(String), `draft ${n}`)
    onDraft(n + 1)
  }
}

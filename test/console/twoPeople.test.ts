import type { Page } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { invoiceClient } from "../support/fixtures/invoices.ts"
import { addMember } from "../support/fixtures/members.ts"
import { type RunningConsole, startConsole } from "../support/servers/console.ts"
import { isSkipped, titleOf } from "../support/servers/sharedBrowser.ts"

const saveButton = ".page-head button:has-text('Save')"

describe.skipIf(isSkipped)(titleOf("Two people on one draft in the console"), { timeout: 60_000 }, () => {
  let console: RunningConsole
  let invoicing: ReturnType<typeof invoiceClient>
  let bea: Page
  beforeAll(async () => {
    console = await startConsole()
    invoicing = invoiceClient(console.service, console.tenant)
    await addMember(console.service, console.tenant, "bea", "MEMBER")
    bea = await (await console.browser.newContext({ locale: "en-GB" })).newPage()
  })
  afterAll(() => console?.stop())

  /** Opens a draft with these lines for both. */
  const openForBoth = async (...names: ReadonlyArray<string>) => {
    const { id } = await invoicing.draft()
    await invoicing.add(id, ...names.map((name) => ({ name, quantity: 1, amountMinor: 1000 })))
    const ana = await console.open(`/invoices/${id}`)
    await bea.goto("about:blank")
    await bea.goto(await console.linkFor("bea", `/${console.tenant}/invoices/${id}`))
    for (const page of [ana, bea]) await page.waitForSelector(`[aria-label='Name, line ${names.length}']`)
    return { ana, id }
  }
  const addLine = async (page: Page, number: number, name: string) => {
    await page.click("text=+ Add a line")
    await page.fill(`[aria-label='Name, line ${number}']`, name)
    await page.fill(`[aria-label='Price, line ${number}']`, "1")
  }
  const save = async (page: Page) => {
    await page.click(saveButton)
    await page.waitForSelector("text=The draft is saved")
  }
  const linesOf = async (id: string) =>
    (await invoicing.lines(id)).map(({ amountMinor, name, quantity }) => `${name} ${quantity} × ${amountMinor}`).sort()
  const shownConflict = async (page: Page, name: string) => {
    await page.waitForSelector(`dialog:has-text('Somebody else was faster') p strong:has-text('${name}')`)
    return page
      .locator("dialog tbody tr")
      .evaluateAll((rows) => rows.map((row) => [...row.children].map(({ textContent }) => textContent).join(" | ")))
  }

  it("shows the second the difference line by line, and saves what both have typed if the second wants it", async () => {
    const { ana, id } = await openForBoth("Inspection", "Travel", "Parking")
    await bea.fill("[aria-label='Quantity, line 1']", "3")
    await bea.click("[aria-label='Remove line 2']")
    await addLine(bea, 4, "Hotel")
    await save(bea)
    await ana.fill("[aria-label='Quantity, line 1']", "2")
    await ana.fill("[aria-label='Price, line 2']", "12.50")
    await addLine(ana, 4, "Report")
    await ana.click(saveButton)
    assert.deepStrictEqual(await shownConflict(ana, "Inspection"), ["Quantity | 1 | 3 | 2"])
    await ana.click("text=Apply my change")
    assert.deepStrictEqual(await shownConflict(ana, "Travel"), ["Line | Travel | deleted | Travel"])
    await ana.click("text=Apply my change")
    await ana.waitForSelector("text=The draft is saved")
    assert.deepStrictEqual(await linesOf(id), [
      "Hotel 1 × 100",
      "Inspection 2 × 1000",
      "Parking 1 × 1000",
      "Report 1 × 100",
      "Travel 1 × 1250"
    ])
    await ana.waitForSelector("[aria-label='Name, line 5']")
    assert.strictEqual(await ana.getAttribute(".totals .sum dd", "data-amount"), "4450")
  })

  it("keeps the change of the first if the second gives up, and loses no new line of the second", async () => {
    const { ana, id } = await openForBoth("Inspection", "Travel")
    await bea.fill("[aria-label='Price, line 1']", "99")
    await save(bea)
    await ana.fill("[aria-label='Name, line 1']", "Visit")
    await ana.fill("[aria-label='Quantity, line 2']", "4")
    await addLine(ana, 3, "Report")
    await ana.click(saveButton)
    assert.deepStrictEqual(await shownConflict(ana, "Inspection"), ["Amount | €10.00 | €99.00 | not changed"])
    await ana.click("text=Keep theirs")
    await ana.waitForSelector("text=The draft is saved")
    assert.deepStrictEqual(await linesOf(id), ["Inspection 1 × 9900", "Report 1 × 100", "Travel 4 × 1000"])
    await ana.waitForSelector(".totals .sum dd[data-amount='14000']")
    assert.strictEqual(await ana.inputValue("[aria-label='Name, line 1']"), "Inspection")
  })

  it("keeps what the second has typed while the page reads the lines of the first", async () => {
    const { ana, id } = await openForBoth("Inspection")
    await addLine(bea, 2, "Hotel")
    await save(bea)
    await ana.fill("[aria-label='Quantity, line 1']", "x")
    await addLine(ana, 2, "Report")
    // It cannot be saved, but the page reads again.
    await ana.click(saveButton)
    await ana.waitForSelector("[aria-label='Name, line 3']")
    const shown = await ana.evaluate<ReadonlyArray<string>>(
      "[...document.querySelectorAll('.cell.name input, .cell.quantity input')].map(({ value }) => value)"
    )
    assert.deepStrictEqual(shown, ["Inspection", "x", "Hotel", "1", "Report", "1"])
    await ana.waitForSelector("[aria-label='Quantity, line 1'][aria-invalid=true]")
    await ana.fill("[aria-label='Quantity, line 1']", "2")
    await save(ana)
    assert.deepStrictEqual(await linesOf(id), ["Hotel 1 × 100", "Inspection 2 × 1000", "Report 1 × 100"])
  })
})

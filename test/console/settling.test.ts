import { readFileSync } from "node:fs"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { tabTo } from "../support/assertions/keyboard.ts"
import { invoiceClient } from "../support/fixtures/invoices.ts"
import { taxRateMaker } from "../support/fixtures/taxRates.ts"
import { goTo, type RunningConsole, startConsole } from "../support/servers/console.ts"
import { isSkipped, titleOf } from "../support/servers/sharedBrowser.ts"
import { eventually } from "../support/servers/worker.ts"

describe.skipIf(isSkipped)(titleOf("Settling an invoice in the console"), { timeout: 60_000 }, () => {
  let console: RunningConsole
  let invoicing: ReturnType<typeof invoiceClient>
  beforeAll(async () => {
    console = await startConsole({ PUBLIC_URL: "https://contracting.example" })
    invoicing = invoiceClient(console.service, console.tenant)
  })
  afterAll(() => console?.stop())

  const issue = async () => {
    const { id } = await invoicing.draft()
    await invoicing.add(id, { name: "Repair", amountMinor: 12_000 })
    await invoicing.transition(id, "finalize")
    return id
  }

  it("records a payment of a part once, and reverses it with a reason", async () => {
    const id = await issue()
    const page = await console.open(`/invoices/${id}`)
    await page.click("text=Record payment")
    await page.fill("input[name=amountMinor]", "20.50")
    await page.dblclick("dialog button:has-text('Record payment')")
    await page.waitForSelector("dd:has-text('€99.50')")
    assert.strictEqual((await invoicing.read(id)).balanceMinor, 9950)
    await page.click("nav >> text=Payments")
    await page.click(".virtual .row:has-text('€20.50')")
    await page.click("button:has-text('Reverse')")
    await page.click("dialog button:has-text('Reverse payment')")
    await page.waitForSelector("input[name=reason][aria-invalid=true]:focus")
    await page.fill("input[name=reason]", "Returned")
    await page.click("dialog button:has-text('Reverse payment')")
    await page.waitForSelector("h1:has-text('Reversed')")
    assert.strictEqual((await invoicing.read(id)).balanceMinor, 12_000)
  })

  it("issues a credit note over the whole invoice, which settles it", async () => {
    const id = await issue()
    const page = await console.open(`/invoices/${id}`)
    await page.click("button:has-text('Credit note')")
    await page.fill("input[name=reason]", "Wrong client")
    await page.click("text=Issue credit note")
    await page.waitForSelector("h1:has-text('Paid')")
    await page.click("nav >> text=Credit notes")
    await page.click(".virtual .row:has-text('CN-')")
    await page.waitForSelector("h1:has-text('CN-')")
    await page.waitForSelector("iframe[src^='blob:']")
    assert.include(await page.textContent("main"), "Wrong client")
  })

  it("credits parts of lines with the total that the service computes, and rejects too much at its line", async () => {
    const { createTaxRate } = taxRateMaker(console.service, console.tenant)
    const rate = await createTaxRate({ name: "VAT", percent: 19, category: "S" })
    const { id } = await invoicing.draft({ discount: { percent: 7.5 } })
    const lines = [
      { name: "Repair", quantity: 3, amountMinor: 3333, taxRateIds: [rate.id] },
      { name: "Travel", amountMinor: 999, taxRateIds: [] }
    ]
    await invoicing.add(id, ...lines)
    await invoicing.transition(id, "finalize")
    const page = await console.open(`/invoices/${id}`)
    const credit = async (mode: string, name: string, text: string) => {
      await page.click("button:has-text('Credit note')")
      await page.fill("input[name=reason]", "Too many")
      await page.selectOption("select[name=content]", mode)
      await page.getByLabel(`of ${name}`).fill(text)
      return page.getAttribute("dialog .totals .sum dd", "data-amount")
    }
    const shown = [await credit("quantity", "Repair", "4")]
    await page.click("text=Issue credit note")
    await page.waitForSelector("input[name^='lines.'][aria-invalid=true]:focus")
    await page.getByLabel("of Repair").fill("1")
    shown.push(await page.getAttribute("dialog .totals .sum dd", "data-amount"))
    await page.dblclick("text=Issue credit note")
    await page.waitForSelector(".rows .row:has-text('CN-')")
    shown.push(await credit("amount", "Repair", "12.34"))
    await page.click("text=Issue credit note")
    await page.waitForSelector(".rows li:nth-child(2) .row:has-text('CN-')")
    await page.click("button:has-text('Credit note')")
    await page.waitForSelector("dialog .totals")
    shown.push(await page.getAttribute("dialog .totals .sum dd", "data-amount"))
    const { body } = await invoicing.call("GET", `/credit-notes?invoiceId=${id}`)
    const credited: ReadonlyArray<number> = body.data.map(
      ({ totalMinor }: { readonly totalMinor: number }) => totalMinor
    )
    const { totalMinor } = await invoicing.read(id)
    const left = credited.reduce((sum, one) => sum - one, totalMinor)
    assert.deepStrictEqual(shown.slice(1), [...credited, left].map(String))
  })

  it("settles another invoice of the client with what is left of a payment", async () => {
    const contract = await invoicing.contract({})
    const issueFor = async () => {
      const { id } = await invoicing.draft({ contractId: contract.id })
      await invoicing.add(id, { name: "Repair", amountMinor: 5000, taxRateIds: [] })
      await invoicing.transition(id, "finalize")
      return id
    }
    const [first, second] = [await issueFor(), await issueFor()]
    const page = await console.open(`/invoices/${first}`)
    await page.click("text=Record payment")
    await page.fill("input[name=amountMinor]", "70")
    await page.click("dialog button:has-text('Record payment')")
    await page.waitForSelector("h1:has-text('Paid')")
    await page.click(".rows .row:has-text('Payment')")
    await page.click("button:has-text('Settle an invoice')")
    await page.fill("input[name=amountMinor]", "50")
    await page.click("dialog button:has-text('Settle')")
    await page.waitForSelector("input[name=amountMinor][aria-invalid=true]:focus")
    await page.fill("input[name=amountMinor]", "20")
    await page.dblclick("dialog button:has-text('Settle')")
    await page.waitForSelector("dd:has-text('€0.00')")
    assert.strictEqual((await invoicing.read(second)).balanceMinor, 3000)
  })

  it("writes off the rest once, and takes it back", async () => {
    const id = await issue()
    const page = await console.open(`/invoices/${id}`)
    await page.click("text=Write off")
    await page.fill("input[name=reason]", "Goodwill")
    await page.dblclick("dialog button:has-text('Write off')")
    await page.waitForSelector("h1:has-text('Paid')")
    await page.click("text=Take the write-off back")
    await page.click("dialog button:has-text('Take back')")
    await page.waitForSelector(".facts dd:has-text('€120.00')")
    assert.strictEqual((await invoicing.read(id)).balanceMinor, 12_000)
  })

  it("shows the link to the client's page, replaces it and revokes it", async () => {
    const id = await issue()
    const page = await console.open(`/invoices/${id}`)
    await page.click("text=Client’s page")
    const readLink = () => page.inputValue("[aria-label='Link for the client']")
    const link = await readLink()
    assert.match(link, /^https:\/\/contracting\.example\/i\//)
    const open = () => console.service.call("GET", new URL(link).pathname)
    assert.strictEqual((await open()).status, 200)
    await page.click("dialog button:has-text('Replace')")
    await page.waitForSelector("text=The link is another one now")
    await eventually(async () => (await readLink()) !== link, "the dialog shows the new link")
    assert.strictEqual((await open()).status, 404)
    await page.click("dialog button:has-text('Revoke')")
    await page.waitForSelector("dialog:has-text('opens nothing')")
  })

  it("voids an invoice after a question, and says instead that its page was opened", async () => {
    const [kept, opened] = [await issue(), await issue()]
    const link = await invoicing.call("GET", `/invoices/${opened}/link`)
    await console.service.call("GET", new URL(link.body.data.url).pathname)
    const page = await console.open(`/invoices/${opened}`)
    await page.click("button:has-text('Void')")
    await page.waitForSelector("dialog .alert:has-text('its page was opened at')")
    assert.strictEqual(await page.locator("dialog button:has-text('Void invoice')").count(), 0)
    await page.keyboard.press("Escape")
    await goTo(page, `/console/${console.tenant}/invoices/${kept}`)
    await page.click("button:has-text('Void')")
    await page.click("dialog button:has-text('Void invoice')")
    await page.waitForSelector("h1:has-text('Void')")
    assert.strictEqual((await invoicing.read(kept)).status, "VOID")
  })

  it("offers a member a draft of a credit note, and a viewer nothing", async () => {
    const id = await issue()
    for (const [subject, role] of [
      ["mia", "MEMBER"],
      ["vera", "VIEWER"]
    ] as const)
      await invoicing.call("POST", "/members", { subject, role })
    const page = await console.open(`/invoices/${id}`, { as: "vera" })
    await page.waitForSelector("text=vera · Viewer")
    await page.waitForSelector("text=Not sent by mail yet")
    assert.deepStrictEqual(await page.locator("main button").allTextContents(), ["Show PDF", "Explain"])
    await console.open(`/invoices/${id}`, { as: "mia" })
    await page.click("button:has-text('Credit note')")
    await page.fill("input[name=reason]", "Wrong client")
    await page.click("text=Save draft")
    await page.waitForSelector("h1:has-text('Draft credit note')")
    await page.click("button:has-text('Delete')")
    await page.waitForSelector("text=Nothing is paid or credited yet")
    assert.strictEqual((await invoicing.read(id)).balanceMinor, 12_000)
  })

  it("leads an accountant to the explanation, a payment, a credit note and an export with the keyboard alone", async () => {
    const id = await issue()
    const page = await console.open("")
    await page.waitForSelector("text=Latest drafts")
    const press = async (...keys: ReadonlyArray<string>) => {
      for (const key of keys) await page.keyboard.press(key)
    }
    const choose = async (name: string) => {
      await tabTo(page, name)
      await press("Enter")
    }
    await press("g", "i")
    await page.waitForSelector(".virtual .row")
    const { invoiceNumber } = await invoicing.read(id)
    await choose(String(invoiceNumber))
    await page.waitForSelector("text=Not sent by mail yet")
    await choose("Explain")
    await page.waitForSelector("dialog td:has-text('120.00')")
    await press("Escape")
    await choose("Record payment")
    await tabTo(page, "Amount in EUR")
    await press("Control+a")
    await page.keyboard.type("20")
    await press("Enter")
    await page.waitForSelector("dd:has-text('€100.00')")
    // The focus is back at the button of the payment, after that of the credit note.
    await press("Shift+Tab")
    await choose("Credit note")
    await page.waitForSelector("dialog .totals")
    await tabTo(page, "Reason")
    await page.keyboard.type("Never done")
    await press("Enter")
    await page.waitForSelector("h1:has-text('Paid')")
    await press("g", "s")
    await page.waitForSelector(".tabs")
    await choose("Export")
    await page.waitForSelector("[aria-label='Download Invoices as CSV']")
    const download = page.waitForEvent("download")
    await choose("Download Invoices as CSV")
    assert.include(readFileSync(await (await download).path()).toString(), String(invoiceNumber))
  })

  it("takes an accountant three clicks to a payment, a credit note, an explanation and an export", async () => {
    await issue()
    const page = await console.open("")
    await page.waitForSelector("text=Latest drafts")
    const home = page.url()
    for (const [path, shown] of [
      [["nav >> text=Invoices", ".virtual .row:has-text('Finalized')", "text=Explain"], "dialog table"],
      [["nav >> text=Invoices", ".virtual .row:has-text('Finalized')", "text=Record payment"], "dialog form"],
      [["nav >> text=Invoices", ".virtual .row:has-text('Finalized')", "button:has-text('Credit note')"], "dialog form"]
    ] as const) {
      for (const step of path) await page.click(step)
      await page.waitForSelector(shown)
      await page.keyboard.press("Escape")
      await goTo(page, home)
    }
    await page.click("nav >> text=Settings")
    await page.click(".tabs >> text=Export")
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.click("[aria-label='Download Taxes as CSV']")
    ])
    assert.strictEqual(file.suggestedFilename(), "Taxes.csv")
  })
})

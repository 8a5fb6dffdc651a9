import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { invoiceClient } from "../support/fixtures/invoices.ts"
import { type RunningConsole, startConsole } from "../support/servers/console.ts"
import { isSkipped, titleOf } from "../support/servers/sharedBrowser.ts"

describe.skipIf(isSkipped)(titleOf("Settling an invoice in the console"), { timeout: 60_000 }, () => {
  let console: RunningConsole
  let invoicing: ReturnType<typeof invoiceClient>
  beforeAll(async () => {
    console = await startConsole()
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
})

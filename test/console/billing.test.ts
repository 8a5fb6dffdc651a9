import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { tabTo } from "../support/assertions/keyboard.ts"
import { invoiceClient } from "../support/fixtures/invoices.ts"
import { insertIssues } from "../support/fixtures/issueRows.ts"
import { jiraSettings } from "../support/fixtures/jiraWebhooks.ts"
import { goTo, type RunningConsole, startConsole } from "../support/servers/console.ts"
import { isSkipped, titleOf } from "../support/servers/sharedBrowser.ts"

describe.skipIf(isSkipped)(titleOf("Billing in the console"), { timeout: 60_000 }, () => {
  let console: RunningConsole
  let invoicing: ReturnType<typeof invoiceClient>
  let contract: { readonly id: string; readonly client: string }
  let jira: string
  beforeAll(async () => {
    console = await startConsole(jiraSettings)
    invoicing = invoiceClient(console.service, console.tenant)
    const client = await console.make("clients", { name: "Northwind" })
    contract = {
      ...(await invoicing.contract({ clientId: client.id, name: "Maintenance", capMinor: 1_000_000 })),
      client: client.id
    }
    const { body } = await invoicing.call("POST", "/integrations", {
      provider: "JIRA",
      name: "Jira",
      config: { siteId: "site" }
    })
    jira = body.data.id
    await insertIssues(console.pool, console.tenant, jira, 3, "NORTH")
  })
  afterAll(() => console?.stop())

  const pageOfContract = async () => {
    const page = await console.open(`/contracts/${contract.id}`)
    await page.waitForSelector(".cap")
    return page
  }

  it("leads from a contract over its issues to a finalized invoice, and names the invoice of a billed issue", async () => {
    const page = await pageOfContract()
    await page.click("text=Bill issues")
    await page.check("label:has-text('NORTH-0') input")
    await page.check("label:has-text('NORTH-1') input")
    await page.fill("input[name=quantity]", "2.5")
    await page.fill("input[name=amountMinor]", "88.00")
    await page.click("text=Create draft with 2 issues")
    await page.waitForSelector("h1:has-text('Draft invoice')")
    assert.strictEqual(await page.getAttribute(".totals .sum dd", "data-amount"), "44000")
    await page.click("text=Finalize…")
    await page.waitForSelector("text=Nothing stands in the way")
    await page.dblclick("dialog button:has-text('Finalize')")
    const title = await page.waitForSelector("h1:has-text('INV-')")
    const number = ((await title.textContent()) ?? "").split(" ")[0] ?? ""
    await goTo(page, `/console/${console.tenant}/contracts/${contract.id}`)
    await page.waitForSelector(`.rows :text('${number}')`)
    await page.click("text=Bill issues")
    await page.waitForSelector(`label.billed:has-text('NORTH-0'):has-text('${number}')`)
    assert.isTrue(await page.isDisabled("label:has-text('NORTH-0') input"))
    assert.isTrue(await page.isEnabled("label:has-text('NORTH-2') input"))
  })

  it("works with the keyboard alone: lines, totals, saving and finalizing", async () => {
    const { id } = await invoicing.draft({ contractId: contract.id })
    const page = await console.open("")
    await page.waitForSelector("text=Latest drafts")
    await page.keyboard.press("g")
    await page.keyboard.press("i")
    await page.waitForSelector("h1:has-text('Invoices')")
    await tabTo(page, "Draft")
    await page.keyboard.press("Enter")
    await page.waitForSelector(".line input")
    assert.include(page.url(), id)
    await tabTo(page, "Name, line 1")
    for (const text of ["Inspection", "3", "19.99"]) {
      await page.keyboard.press("Control+a")
      await page.keyboard.type(text)
      await page.keyboard.press("Tab")
    }
    await page.keyboard.press("Enter")
    await page.waitForSelector("[aria-label='Name, line 2']:focus")
    await page.keyboard.type("Travel")
    await page.keyboard.press("Tab")
    await page.keyboard.press("Tab")
    await page.keyboard.type("5")
    await page.waitForSelector(".totals .sum dd[data-amount='6497']")
    await page.keyboard.press("Control+s")
    await page.waitForSelector("text=The draft is saved")
    assert.strictEqual((await invoicing.read(id)).totalMinor, 6497)
    await page.waitForSelector("[aria-label='Price, line 2']:focus")
    await tabTo(page, "Finalize…")
    await page.keyboard.press("Enter")
    await page.waitForSelector("text=Nothing stands in the way")
    await tabTo(page, "Not yet")
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await page.waitForSelector("h1:has-text('INV-')")
  })

  it("pastes lines from a spreadsheet, and removes and restores a saved line", async () => {
    const { id } = await invoicing.draft({ contractId: contract.id })
    await invoicing.add(id, { name: "Kept", amountMinor: 100 })
    const page = await console.open(`/invoices/${id}`)
    await page.click("text=+ Add a line")
    await page.waitForSelector("[aria-label='Name, line 2']:focus")
    await page.evaluate(`{
      const clipboardData = new DataTransfer()
      clipboardData.setData("text/plain", "Pump\\t2\\t1.234,50\\t10%\\nValve\\t1\\t8")
      document.activeElement.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }))
    }`)
    await page.waitForSelector(".totals .sum dd[data-amount='223110']")
    await page.click("[aria-label='Remove line 1']")
    await page.waitForSelector(".totals .sum dd[data-amount='223010']")
    await page.click("[aria-label='Keep line 1']")
    await page.click("button:has-text('Save')")
    await page.waitForSelector("text=The draft is saved")
    const { billableCount, totalMinor } = await invoicing.read(id)
    assert.deepStrictEqual({ billableCount, totalMinor }, { billableCount: 3, totalMinor: 223_110 })
  })

  it("shows at its cell what the service rejects of a line", async () => {
    const { id } = await invoicing.draft({ contractId: contract.id })
    const page = await console.open(`/invoices/${id}`)
    await page.fill("[aria-label='Name, line 1']", "x".repeat(256))
    await page.fill("[aria-label='Price, line 1']", "1")
    await page.keyboard.press("Control+s")
    await page.waitForSelector(".cell.name .error:has-text('255')")
    assert.strictEqual(await page.getAttribute("[aria-label='Name, line 1']", "aria-invalid"), "true")
  })
})

import type { Page } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { tabTo } from "../support/assertions/keyboard.ts"
import { integrationClient } from "../support/fixtures/integrations.ts"
import { invoiceClient } from "../support/fixtures/invoices.ts"
import { insertIssues } from "../support/fixtures/issueRows.ts"
import { jiraSettings } from "../support/fixtures/jiraWebhooks.ts"
import { mailConfig } from "../support/fixtures/mails.ts"
import { type RunningConsole, startConsole } from "../support/servers/console.ts"
import { type MailServer, startMailServer } from "../support/servers/mailServer.ts"
import { isSkipped, titleOf } from "../support/servers/sharedBrowser.ts"
import { eventually, type RunningWorker, startWorker } from "../support/servers/worker.ts"

describe.skipIf(isSkipped)(titleOf("The console"), { timeout: 60_000 }, () => {
  let console: RunningConsole
  let mailServer: MailServer
  let workers: ReadonlyArray<RunningWorker> = []
  let contractId: string
  beforeAll(async () => {
    mailServer = await startMailServer({ hideSTARTTLS: true })
    console = await startConsole(jiraSettings)
    const invoicing = invoiceClient(console.service, console.tenant)
    const integrations = integrationClient(console.service, console.tenant)
    const client = await console.make("clients", { name: "Northwind" })
    const contact = await console.make("contacts", { clientId: client.id, name: "Ada", receivesInvoices: true })
    await console.make("emails", { contactId: contact.id, address: "ada@northwind.example" })
    contractId = (await invoicing.contract({ clientId: client.id, name: "Maintenance" })).id
    const jira = await integrations.mustCreate({ provider: "JIRA", name: "Jira", config: { siteId: "site" } })
    await insertIssues(console.pool, console.tenant, jira.id, 4, "NORTH")
    await integrations.mustCreate({ provider: "EMAIL", name: "Mail", config: mailConfig(mailServer.port) })
    const late = await invoicing.contract({ clientId: client.id, name: "Spot", paymentTermDays: 0 })
    await invoicing.invoiceIn("FINALIZED", { contractId: late.id })
    workers = [await startWorker(console.service, "delivery")]
  })
  afterAll(async () => {
    await Promise.all(workers.map(({ stop }) => stop()))
    await console?.stop()
    await mailServer?.stop()
  })

  const waitForMail = async (page: Page, count: number) => {
    await page.waitForSelector("text=Sent to ada@northwind.example")
    await eventually(() => mailServer.mails.length === count, `${count} mails arrive`)
    assert.strictEqual(mailServer.mails[count - 1]?.to, "ada@northwind.example")
    assert.match(mailServer.mails[count - 1]?.source ?? "", /application\/pdf/)
  }

  it("leads from the contract to an invoice in the client's mailbox within seven clicks besides the issues", async () => {
    const page = await console.open(`/contracts/${contractId}`)
    let clicks = 0
    const click = (selector: string) => {
      clicks++
      return page.click(selector)
    }
    await click("text=Bill issues")
    await page.check("label:has-text('NORTH-0') input")
    await page.check("label:has-text('NORTH-1') input")
    await page.fill("input[name=amountMinor]", "88.00")
    await click("text=Create draft with 2 issues")
    await click("text=Finalize…")
    await click("dialog button:has-text('Finalize')")
    await page.waitForSelector("h1:has-text('INV-')")
    await click("main button:has-text('Send')")
    await click("dialog button:has-text('Send')")
    await waitForMail(page, 1)
    assert.isAtMost(clicks, 7)
  })

  it("leads the same way with the keyboard alone", async () => {
    const page = await console.open("")
    await page.waitForSelector("text=Latest drafts")
    const press = (key: string) => page.keyboard.press(key)
    await press("g")
    await press("t")
    await page.waitForSelector(".virtual .row")
    await tabTo(page, "Maintenance")
    await press("Enter")
    await page.waitForSelector(".cap")
    await tabTo(page, "Bill issues")
    await press("Enter")
    await page.waitForSelector("label:has-text('NORTH-2')")
    await tabTo(page, "NORTH-2")
    await press("Space")
    await tabTo(page, "Price in EUR")
    await page.keyboard.type("12.50")
    await press("Enter")
    await page.waitForSelector("h1:has-text('Draft invoice')")
    await page.waitForSelector(".totals .sum dd[data-amount='1250']")
    await tabTo(page, "Finalize…")
    await press("Enter")
    await page.waitForSelector("text=Nothing stands in the way")
    await tabTo(page, "Not yet")
    await press("Tab")
    await press("Enter")
    await page.waitForSelector("h1:has-text('INV-')")
    await tabTo(page, "Send")
    await press("Enter")
    await page.waitForSelector("dialog form")
    await tabTo(page, "Message")
    await tabTo(page, "Send")
    await press("Enter")
    await waitForMail(page, 2)
  })

  it("shows an owner what is overdue, and leads to it with the keyboard alone", async () => {
    const page = await console.open("")
    await page.waitForSelector(".tile.bad:has-text('€1.00')")
    await tabTo(page, "Overdue")
    await page.keyboard.press("Enter")
    await page.waitForSelector(".virtual .row:has-text('Overdue')")
    assert.match(page.url(), /overdue=true/)
    assert.strictEqual(await page.locator(".virtual .row").count(), 1)
    await page.keyboard.press("g")
    await page.keyboard.press("h")
    await page.waitForSelector(".tiles")
    await tabTo(page, "Northwind")
    await page.keyboard.press("Enter")
    await page.waitForSelector("h1:has-text('Overdue')")
  })
})

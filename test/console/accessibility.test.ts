import type { Page } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { runAxe } from "../support/assertions/axe.ts"
import { insertDelivery } from "../support/fixtures/deliveryRows.ts"
import { integrationClient, minimalWebhook } from "../support/fixtures/integrations.ts"
import { invoiceClient } from "../support/fixtures/invoices.ts"
import { insertInboundRow, insertIssues } from "../support/fixtures/issueRows.ts"
import { jiraSettings } from "../support/fixtures/jiraWebhooks.ts"
import { taxRateMaker } from "../support/fixtures/taxRates.ts"
import { goTo, type RunningConsole, startConsole } from "../support/servers/console.ts"
import { isSkipped, titleOf } from "../support/servers/sharedBrowser.ts"

const findProblems = async (page: Page, rules: Parameters<typeof runAxe>[2] = {}) => {
  const hidden = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth")
  return [...(await runAxe(page, ["violations"], rules)), ...(hidden > 0 ? [`${hidden} pixels too wide`] : [])]
}

/** The colours of a scheme change nothing but the contrast, so the second scheme needs only its rule. */
const inBothSchemes = async (page: Page) => {
  const light = await findProblems(page)
  await page.emulateMedia({ colorScheme: "dark" })
  const dark = await findProblems(page, { runOnly: ["color-contrast"] })
  await page.emulateMedia({ colorScheme: "light" })
  return [...light, ...dark.map((problem) => `dark, ${problem}`)]
}

const windows: ReadonlyArray<
  readonly [
    name: string,
    options: Parameters<RunningConsole["open"]>[1],
    find: (page: Page) => Promise<ReadonlyArray<string>>
  ]
> = [
  ["in light and in dark colours", {}, inBothSchemes],
  ["on a window 360 pixels wide", { viewport: { width: 360, height: 740 } }, findProblems]
]

describe.skipIf(isSkipped)(titleOf("The console"), { timeout: 120_000 }, () => {
  let console: RunningConsole
  /** Screens, each with what it shows last and what to click before the check. */
  let screens: ReadonlyArray<readonly [path: string, shown: string, click?: string]>
  beforeAll(async () => {
    console = await startConsole(jiraSettings)
    const invoicing = invoiceClient(console.service, console.tenant)
    const client = await console.make("clients", { name: "Northwind", description: "Pumps and valves" })
    await console.make("addresses", { clientId: client.id })
    await console.make("addresses", { clientId: undefined })
    await taxRateMaker(console.service, console.tenant).createTaxRate({ name: "VAT", percent: 19, category: "S" })
    await console.make("emails", { contactId: (await console.make("contacts", { clientId: client.id })).id })
    const contract = await invoicing.contract({ clientId: client.id, capMinor: 100_000 })
    await console.make("projects", { contractId: contract.id })
    const draft = await invoicing.draft({ contractId: contract.id })
    await invoicing.add(draft.id, { name: "Inspection", quantity: 2.5, amountMinor: 8800 })
    const issued = await invoicing.draft({ contractId: contract.id })
    await invoicing.add(issued.id, { name: "Repair", amountMinor: 12_000 })
    await invoicing.transition(issued.id, "finalize")
    const allocations = [{ invoiceId: issued.id, amountMinor: 2000 }]
    const money = { clientId: client.id, currencyCode: "EUR", amountMinor: 5000, allocations }
    const payment = (await invoicing.call("POST", "/payments", money)).body.data
    const credit = { invoiceId: issued.id, reason: "Discount", full: true }
    const note = (await invoicing.call("POST", "/credit-notes", credit)).body.data
    const { mustCreate, mustSubscribe } = integrationClient(console.service, console.tenant)
    const { id: webhook } = await mustCreate(minimalWebhook)
    await mustSubscribe(webhook)
    const failed = await insertDelivery(console.pool, console.tenant, webhook, { status: "EXHAUSTED", attempts: 2 })
    const { id: jira } = await mustCreate({ provider: "JIRA", name: "Jira" })
    await insertIssues(console.pool, console.tenant, jira)
    const inbound = await insertInboundRow(console.pool, console.tenant, jira, { status: "FAILED" })
    screens = [
      ["", ".tiles"],
      ["/clients", ".virtual .row"],
      ["/clients", "dialog form", "main .page-head button"],
      [`/clients/${client.id}`, "address"],
      ["/contracts", ".virtual .row"],
      [`/contracts/${contract.id}`, ".bar"],
      ["/invoices", ".virtual .row"],
      [`/invoices/${draft.id}`, ".line input"],
      [`/invoices/${draft.id}`, "dialog .actions", "text=Finalize…"],
      [`/invoices/${issued.id}`, "text=Not sent by mail yet"],
      [`/invoices/${issued.id}`, "dialog table", "text=Explain"],
      ["/payments", ".virtual .row"],
      [`/payments/${payment.id}`, ".rows .row"],
      ["/credit-notes", ".virtual .row"],
      [`/credit-notes/${note.id}`, "iframe[src^='blob:']"],
      [`/invoices/${issued.id}`, "dialog .totals", "button:has-text('Credit note')"],
      [`/payments/${payment.id}`, "dialog input[name=amountMinor]", "text=Settle an invoice"],
      ["/settings", "address"],
      ["/settings", "dialog form", "[aria-label='Edit bank account']"],
      ["/settings/logo", "iframe[src^='blob:']"],
      ["/settings/members", ".rows .row"],
      ["/settings/taxes", ".rows .row"],
      ["/settings/taxes", "dialog form", "text=New tax rate"],
      ["/settings/numbers", "section[aria-label='Credit notes'] .facts"],
      ["/settings/export", ".rows .row"],
      ["/settings/usage", "tbody tr"],
      ["/integrations", ".virtual .row"],
      ["/integrations", "dialog .kinds", "main .page-head button"],
      [`/integrations/${webhook}?delivery=${failed}`, "dialog .attempt"],
      [`/integrations/${webhook}`, "dialog form", "text=Redeliver many"],
      [`/integrations/${webhook}/subscriptions`, "text=client.created"],
      [`/integrations/${webhook}/subscriptions`, "dialog form", "main .section-head button"],
      [`/integrations/${jira}?webhook=${inbound}`, "dialog .code"],
      [`/integrations/${jira}/issues`, ".virtual .row"],
      ["/events", ".virtual .row"],
      ["/events", "dialog .code", ".virtual .row"]
    ]
  })
  afterAll(() => console?.stop())

  it.each(windows)(
    "has no violation of axe on any screen, and nothing to scroll sideways, %s",
    async (_, options, find) => {
      const page = await console.open("", options)
      await page.waitForSelector(".tiles")
      const found: Array<string> = []
      for (const [path, shown, click] of screens) {
        await goTo(page, `/console/${console.tenant}${path}`)
        if (click !== undefined) await page.click(click)
        await page.waitForSelector(shown)
        found.push(...(await find(page)).map((problem) => `${path} ${click ?? ""}: ${problem}`))
        if (click !== undefined) await page.keyboard.press("Escape")
      }
      assert.deepStrictEqual(found, [])
    }
  )
})

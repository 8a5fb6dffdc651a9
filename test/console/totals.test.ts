import type { Page } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { caseCount } from "../support/caseCount.ts"
import { compareTotals, openDraft } from "../support/consoleCheck/randomDrafts.ts"
import { invoiceClient } from "../support/fixtures/invoices.ts"
import { type RunningConsole, startConsole } from "../support/servers/console.ts"
import { isSkipped, titleOf } from "../support/servers/sharedBrowser.ts"

const draftCount = caseCount(25, 1000)

/** In DOM nodes: what a list of ten thousand lines may render. */
const maxNodes = 1500

describe.skipIf(isSkipped)(titleOf("The editor of the console"), { timeout: caseCount(120_000, 900_000) }, () => {
  let console: RunningConsole
  let invoicing: ReturnType<typeof invoiceClient>
  let page: Page
  let contractId: string
  beforeAll(async () => {
    console = await startConsole()
    invoicing = invoiceClient(console.service, console.tenant)
    contractId = (await invoicing.contract({})).id
    page = await console.open("")
    await page.waitForSelector("text=Latest drafts")
  })
  afterAll(() => console?.stop())

  it(`shows the totals that the service computes, on ${draftCount} random drafts`, async () => {
    await compareTotals(page, console, draftCount)
  })

  it("renders a bounded number of nodes for 10 000 lines, and reaches the last line", async () => {
    const { id } = await invoicing.draft({ contractId })
    const lines = Array.from({ length: 1000 }, (_, index) => ({
      name: `Line ${index}`,
      amountMinor: 1,
      taxRateIds: []
    }))
    for (let batch = 0; batch < 10; batch++) await invoicing.add(id, ...lines)
    await openDraft(page, console, id)
    await page.waitForSelector(".totals .sum dd[data-amount='10000']")
    const countNodes = () => page.evaluate<number>("document.querySelectorAll('*').length")
    assert.isBelow(await countNodes(), maxNodes)
    await page.evaluate("document.querySelector('.editor .virtual').scrollTop = 1e9")
    await page.waitForSelector("[aria-label='Name, line 10000']")
    assert.isBelow(await countNodes(), maxNodes)
  })
})

import type { Page, Route } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { integrationClient } from "../support/fixtures/integrations.ts"
import { invoiceClient } from "../support/fixtures/invoices.ts"
import { insertIssues } from "../support/fixtures/issueRows.ts"
import { jiraSettings } from "../support/fixtures/jiraWebhooks.ts"
import { mailConfig } from "../support/fixtures/mails.ts"
import { goTo, type RunningConsole, startConsole } from "../support/servers/console.ts"
import { isSkipped, titleOf } from "../support/servers/sharedBrowser.ts"

/** Something that a form makes. */
interface Form {
  /** The screen, new for each try. */
  readonly path: () => Promise<string>
  readonly fill: (page: Page) => Promise<unknown>
  readonly submit: string
  /** The request that makes it. */
  readonly request: RegExp
  /** Whether the page sees by itself that the lost answer was a success. */
  readonly isSeenAfterLoss?: true
  /** How many there are at this screen. */
  readonly count: (path: string) => Promise<number>
}

describe.skipIf(isSkipped)(titleOf("A form of the console"), { timeout: 60_000 }, () => {
  let console: RunningConsole
  let invoicing: ReturnType<typeof invoiceClient>
  let jira: string
  let trackers = 0
  beforeAll(async () => {
    console = await startConsole(jiraSettings)
    invoicing = invoiceClient(console.service, console.tenant)
    const integrations = integrationClient(console.service, console.tenant)
    jira = (await integrations.mustCreate({ provider: "JIRA", name: "Jira", config: { siteId: "site" } })).id
    await integrations.mustCreate({ provider: "EMAIL", name: "Mail", config: mailConfig(9) })
  })
  afterAll(() => console?.stop())

  const countOf = async (path: string) => (await invoicing.call("GET", path)).body.data.length
  const idIn = (path: string) => path.split("/").at(-1) ?? ""
  const pathOfContract = async () => `/contracts/${(await invoicing.contract()).id}`
  const pathOfInvoice = async (status: "DRAFT" | "FINALIZED") => `/invoices/${(await invoicing.invoiceIn(status)).id}`
  const clientOf = async (invoice: string) => {
    const { contract } = await invoicing.read(invoice)
    return (await invoicing.call("GET", `/contracts/${contract}`)).body.data.client
  }
  const openDialog = (page: Page, button: string) => page.click(`main .page-head button:has-text('${button}')`)

  const forms: Readonly<Record<string, Form>> = {
    "a client": {
      path: async () => "/clients",
      fill: async (page) => {
        await openDialog(page, "New client")
        await page.fill("input[name=name]", "Lighthouse")
      },
      submit: "dialog button:has-text('Create client')",
      request: /\/clients$/,
      count: () => countOf("/clients?q=Lighthouse")
    },
    "a contract": {
      path: async () => `/clients/${(await console.make("clients")).id}`,
      fill: async (page) => {
        await page.click("text=New contract")
        await page.fill("input[name=name]", "Care")
      },
      submit: "dialog button:has-text('Create contract')",
      request: /\/contracts$/,
      count: (path) => countOf(`/contracts?clientId=${idIn(path)}`)
    },
    "an empty invoice": {
      path: pathOfContract,
      fill: async () => {},
      submit: "text=Empty invoice",
      request: /\/invoices$/,
      count: (path) => countOf(`/invoices?contractId=${idIn(path)}`)
    },
    "an invoice of issues": {
      path: async () => {
        await insertIssues(console.pool, console.tenant, jira, 2, `TRACK${++trackers}`)
        return pathOfContract()
      },
      fill: async (page) => {
        await page.click("text=Bill issues")
        await page.check(`label:has-text('TRACK${trackers}-0') input`)
        await page.fill("input[name=amountMinor]", "5")
      },
      submit: "dialog button:has-text('Create draft')",
      request: /\/from-issues$/,
      count: (path) => countOf(`/invoices?contractId=${idIn(path)}`)
    },
    "the number of an invoice": {
      path: () => pathOfInvoice("DRAFT"),
      fill: async (page) => {
        await openDialog(page, "Finalize…")
        await page.waitForSelector("text=Nothing stands in the way")
      },
      submit: "dialog button:has-text('Finalize')",
      request: /\/finalize$/,
      isSeenAfterLoss: true,
      count: async (path) => {
        const { rows } = await console.pool.query(
          "select 1 from events where resource_id = $1 and type = 'invoice.finalized'",
          [idIn(path)]
        )
        return rows.length
      }
    },
    "a payment": {
      path: () => pathOfInvoice("FINALIZED"),
      fill: async (page) => {
        await openDialog(page, "Record payment")
        await page.fill("input[name=amountMinor]", "0.40")
      },
      submit: "dialog button:has-text('Record payment')",
      request: /\/payments$/,
      count: async (path) => countOf(`/payments?clientId=${await clientOf(idIn(path))}`)
    },
    "a credit note": {
      path: () => pathOfInvoice("FINALIZED"),
      fill: async (page) => {
        await openDialog(page, "Credit note")
        await page.fill("input[name=reason]", "Returned")
      },
      submit: "dialog button:has-text('Issue credit note')",
      request: /\/credit-notes\/\w+\/finalize$/,
      count: async (path) => countOf(`/credit-notes?clientId=${await clientOf(idIn(path))}`)
    },
    "a mail": {
      path: () => pathOfInvoice("FINALIZED"),
      fill: async (page) => {
        await openDialog(page, "Send")
        await page.fill("input[name=to]", "ap@client.example")
      },
      submit: "dialog button:has-text('Send')",
      request: /\/send$/,
      count: (path) => countOf(`${path}/deliveries`)
    }
  }

  /** Handles the next POST to an address by itself. */
  const takeNext = async (page: Page, address: RegExp, handle: (route: Route) => Promise<unknown>) => {
    let isTaken = false
    const matches = (url: URL) => address.test(url.pathname)
    let finish: (handling: Promise<unknown>) => void = () => {}
    const taken = new Promise<unknown>((resolve) => {
      finish = resolve
    })
    await page.route(matches, async (route) => {
      if (isTaken || route.request().method() !== "POST" || route.request().url().includes("dryRun"))
        return route.fallback()
      isTaken = true
      const handling = handle(route)
      finish(handling)
      await handling
    })
    return { taken, release: () => page.unroute(matches) }
  }

  let shown: Page | undefined
  /** Goes to a screen without a load, which takes longer than everything else here. */
  const show = async (path: string) => {
    shown ??= await console.open("")
    await shown.waitForSelector("main h1")
    for (const button of await shown.locator(".toast button").all()) await button.click()
    await goTo(shown, `/console/${console.tenant}${path}`)
    return shown
  }

  const cases = Object.keys(forms)

  it.each(cases)("makes %s once by double clicks, also if the answer to the first is lost", async (name) => {
    const form = forms[name] ?? assert.fail("no such form")
    const path = await form.path()
    const before = await form.count(path)
    const page = await show(path)
    await form.fill(page)
    const { release, taken } = await takeNext(page, form.request, async (route) => {
      await route.fetch()
      await route.abort()
    })
    await page.dblclick(form.submit)
    await taken
    await page.waitForSelector("text=cannot be reached")
    await release()
    const address = page.url()
    if (form.isSeenAfterLoss !== true) await page.dblclick(form.submit)
    await page.waitForSelector("dialog", { state: "detached" })
    assert.strictEqual((await form.count(path)) - before, 1)
    await goTo(page, address)
    await page.goBack()
    await page.waitForSelector("main h1")
    assert.strictEqual(await page.locator("dialog").count(), 0)
    assert.strictEqual((await form.count(path)) - before, 1)
  })

  it.each(cases)("makes %s once if the page is reloaded meanwhile, and the request arrives later", async (name) => {
    const form = forms[name] ?? assert.fail("no such form")
    const path = await form.path()
    const before = await form.count(path)
    const page = await show(path)
    await form.fill(page)
    let late: () => Promise<unknown> = async () => assert.fail("nothing was sent")
    const { release, taken } = await takeNext(page, form.request, async (route) => {
      const request = route.request()
      const [headers, body] = [await request.allHeaders(), request.postData()]
      late = () => fetch(request.url(), { method: "POST", headers, ...(body === null ? {} : { body }) })
      await route.abort()
    })
    await page.click(form.submit)
    await taken
    await release()
    await console.open(path)
    await form.fill(page)
    await page.click(form.submit)
    await page.waitForSelector("dialog", { state: "detached" })
    await late()
    assert.strictEqual((await form.count(path)) - before, 1)
  })
})

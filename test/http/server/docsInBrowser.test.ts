import type { Page } from "playwright-core"
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "vitest"
import { invoiceClient } from "../../support/fixtures/invoices.ts"
import { type Service, startService } from "../../support/servers/service.ts"
import { closeContexts, isSkipped, sharedBrowser, titleOf } from "../../support/servers/sharedBrowser.ts"

describe.skipIf(isSkipped)(titleOf("In a browser"), { timeout: 120_000 }, () => {
  let page: Page
  let service: Service
  let tenant: string
  /** Errors in the console, exceptions, and requests to other origins. */
  let problems: Array<string>
  beforeAll(async () => {
    service = await startService({})
    tenant = await service.newTenant("alice")
    const context = await (await sharedBrowser()).newContext({ viewport: { width: 1440, height: 900 } })
    context.setDefaultTimeout(60_000)
    page = await context.newPage()
    page.on("console", (entry) => entry.type() === "error" && problems.push(entry.text()))
    page.on("pageerror", (error) => problems.push(String(error)))
    page.on("request", (request) => {
      const { origin, protocol } = new URL(request.url())
      if (protocol !== "data:" && protocol !== "blob:" && origin !== service.url) problems.push(request.url())
    })
  })
  beforeEach(() => {
    problems = []
  })
  afterAll(async () => {
    await closeContexts()
    await service?.stop()
  })

  const tryButton = (path: string) =>
    page.getByRole("button", { name: `Test Request (get /api/v1/${path})`, exact: true })
  /** Loads the documentation, which takes seconds, unless the page shows it already: then only the fragment changes. */
  const openOperation = async (path = "tenants") => {
    await page.goto(`${service.url}/docs#tag/${path}/GET/api/v1/${path}`)
    await tryButton(path).waitFor()
  }

  it("the start page leads to the health", async () => {
    await page.goto(service.url)
    await page.getByRole("link", { name: "Health" }).click()
    await page.getByText(`"ready":true`).waitFor()
  })

  it("the start page leads to the documentation", async () => {
    await page.goto(service.url)
    await page.getByRole("link", { name: "API documentation" }).click()
    await page.getByRole("button", { name: "Use a development token" }).waitFor()
    // The viewer adds the visible section as a fragment.
    assert.deepStrictEqual([page.url().split("#")[0], problems], [`${service.url}/docs`, []])
  })

  it("the documentation page shows operations with samples, without errors or requests to other hosts", async () => {
    await openOperation()
    await page.getByText("curl ").first().waitFor()
    await page.getByRole("button", { name: "Shell Curl" }).first().click()
    await page.getByRole("option", { name: "TypeScript" }).first().click()
    await page.getByText("createClient").first().waitFor()
    assert.deepStrictEqual(problems, [])
  })

  it("one click fills in a token and a tenant, and a request without optional parameters succeeds", async () => {
    const { draft } = invoiceClient(service, tenant, "alice")
    const { id } = await draft()
    await openOperation("invoices")
    await page.getByRole("button", { name: "Use a development token" }).click()
    await page.getByText("Token filled in: you are alice").waitFor()
    const response = page.waitForResponse((response) => response.url().startsWith(`${service.url}/api/v1/invoices`))
    await tryButton("invoices").click()
    await page.getByRole("button", { name: /^Send get request/ }).click()
    const { data } = await (await response).json()
    assert.deepStrictEqual(
      data.map((invoice: { id: string }) => invoice.id),
      [id]
    )
    assert.deepStrictEqual(problems, [])
  })
})

import { readFileSync } from "node:fs"
import type { Page } from "playwright-core"
import sharp from "sharp"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { invoiceClient } from "../support/fixtures/invoices.ts"
import { goTo, type RunningConsole, startConsole } from "../support/servers/console.ts"
import { isSkipped, titleOf } from "../support/servers/sharedBrowser.ts"
import { eventually } from "../support/servers/worker.ts"

const hasImage = (pdf: string) => pdf.includes("/Subtype /Image")

describe.skipIf(isSkipped)(titleOf("The settings of the console"), { timeout: 60_000 }, () => {
  let console: RunningConsole
  let page: Page
  let invoicing: ReturnType<typeof invoiceClient>
  beforeAll(async () => {
    console = await startConsole()
    invoicing = invoiceClient(console.service, console.tenant)
    page = await console.open("/settings")
  })
  afterAll(() => console?.stop())

  const openPart = (part: string) => goTo(page, `/console/${console.tenant}/settings${part}`)
  const readTenant = async () => (await invoicing.call("GET", `/tenants/${console.tenant}`)).body.data
  const save = (label = "Save") => page.click(`dialog button:has-text('${label}')`)

  it("show what the service rejects of a bank account at its field, and save one with spaces", async () => {
    await page.click("[aria-label='Edit bank account']")
    await page.fill("[name='bankAccount.name']", "Harbour Works")
    await page.fill("[name='bankAccount.iban']", "DE00 3704 0044 0532 0130 00")
    await save()
    await page.waitForSelector("[name='bankAccount.iban'][aria-invalid=true]:focus")
    await page.fill("[name='bankAccount.iban']", "DE89 3704 0044 0532 0130 00")
    await save()
    await page.waitForSelector("dd:has-text('DE89 3704 0044 0532 0130 00')")
    assert.deepStrictEqual((await readTenant()).bankAccount, { name: "Harbour Works", iban: "DE89370400440532013000" })
  })

  it("show what somebody else has changed before they overwrite it, and rename the business everywhere", async () => {
    await page.click("[aria-label='Edit business']")
    await page.fill("[name=name]", "Lighthouse")
    await invoicing.call("PATCH", `/tenants/${console.tenant}`, { timeZone: "Europe/Oslo" })
    await save()
    await page.waitForSelector("dialog:has-text('Somebody else was faster') mark:has-text('Europe/Oslo')")
    await page.click("text=Apply my change")
    await page.waitForSelector("header .tenant:has-text('Lighthouse')")
    assert.strictEqual((await readTenant()).name, "Lighthouse")
  })

  it("have an address of the business itself", async () => {
    await console.make("addresses", { clientId: (await console.make("clients")).id, name: "Northwind" })
    await page.click("section[aria-label=Addresses] button:has-text('Add')")
    for (const name of ["name", "address1", "zip", "city", "country"]) await page.fill(`[name=${name}]`, "Quay 1")
    await page.dblclick("dialog button:has-text('Save')")
    await page.waitForSelector("address:has-text('Quay 1')")
    assert.strictEqual(await page.locator("address").count(), 1)
    assert.lengthOf((await invoicing.call("GET", "/addresses?ofTenant=true")).body.data, 1)
  })

  it("upload a logo, which the preview of an invoice shows, and say what is wrong with a file", async () => {
    await invoicing.draft()
    // The browser hands no bytes of a PDF to the test, so they are read on their way.
    const shownPdfs: Array<string> = []
    await page.route("**/pdf", async (route) => {
      const response = await route.fetch()
      shownPdfs.push((await response.body()).toString("latin1"))
      await route.fulfill({ response })
    })
    await openPart("/logo")
    await page.waitForSelector("iframe[src^='blob:']")
    const input = "section[aria-label=Logo] input[type=file]"
    const broken = { name: "logo.png", mimeType: "image/png", buffer: Buffer.from("no image") }
    await page.setInputFiles(input, broken)
    await page.waitForSelector("section[aria-label=Logo] .error")
    assert.isFalse(shownPdfs.some(hasImage))
    const logo = sharp({ create: { width: 120, height: 40, channels: 3, background: "#14633a" } }).png()
    await page.setInputFiles(input, { name: "logo.png", mimeType: "image/png", buffer: await logo.toBuffer() })
    const shown = await page.waitForSelector("section[aria-label=Logo] img")
    const width = () => shown.evaluate((image) => "naturalWidth" in image && image.naturalWidth)
    await eventually(async () => (await width()) === 120, "the logo is loaded")
    await eventually(() => hasImage(shownPdfs.at(-1) ?? ""), "the preview has the logo")
    assert.lengthOf((await readTenant()).media, 1)
    await page.click("[aria-label='Remove logo']")
    await page.waitForSelector("section[aria-label=Logo] :text('None yet')")
    assert.lengthOf((await readTenant()).media, 0)
    // The last preview may still be on its way when the page is closed.
    await page.unrouteAll({ behavior: "ignoreErrors" })
  })

  it("add a member once, reject the same one at its field, and change and remove it, but never the last owner", async () => {
    await openPart("/members")
    await page.waitForSelector("text=The last owner")
    assert.strictEqual(await page.locator(".rows button").count(), 0)
    const add = async () => {
      await page.click("button:has-text('Add a member')")
      await page.fill("[name=subject]", "ines")
      await page.dblclick("dialog button:has-text('Add member')")
    }
    await add()
    await page.waitForSelector(".row:has-text('ines'):has-text('Member')")
    await add()
    await page.waitForSelector("[name=subject][aria-invalid=true]:focus")
    await page.click("dialog button:has-text('Cancel')")
    await page.click("[aria-label='Change role of ines']")
    await page.selectOption("[name=role]", "OWNER")
    await save()
    await page.waitForSelector(".row:has-text('ines'):has-text('Owner')")
    await page.waitForSelector("[aria-label=Leave]")
    await page.click("[aria-label='Remove ines']")
    await save("Remove member")
    await page.waitForSelector("text=The last owner")
    assert.lengthOf((await invoicing.call("GET", "/members")).body.data, 1)
  })

  it("create a tax rate, make it the tax of new lines, and archive another", async () => {
    await openPart("/taxes")
    const create = async (name: string, percent: string) => {
      await page.click("button:has-text('New tax rate')")
      await page.fill("[name=name]", name)
      await page.fill("[name=percent]", percent)
      await save("Create tax rate")
    }
    await create("VAT", "0")
    await page.waitForSelector("[name=percent][aria-invalid=true]:focus")
    await page.fill("[name=percent]", "7,5")
    await save("Create tax rate")
    await page.waitForSelector(".row:has-text('VAT'):has-text('7.5 %')")
    await create("Old", "5")
    await page.waitForSelector(".row:has-text('Old')")
    await page.click("button:has-text('Taxes of new lines')")
    await page.check("dialog label:has-text('VAT') input")
    await save()
    await page.waitForSelector(".row:has-text('VAT'):has-text('New lines')")
    assert.strictEqual(await page.locator("[aria-label='Archive VAT']").count(), 0)
    await page.click("[aria-label='Archive Old']")
    await save("Archive")
    await page.waitForSelector(".row:has-text('Old'):has-text('Archived')")
    assert.lengthOf((await readTenant()).defaultTaxRates, 1)
  })

  it("prove that no number is missing, and reject a format at its field", async () => {
    const { id } = await invoicing.draft()
    await invoicing.add(id, { amountMinor: 100, taxRateIds: [] })
    await invoicing.transition(id, "finalize")
    await openPart("/numbers")
    await page.waitForSelector("section[aria-label=Invoices] tr:has-text('INV-'):has-text('No number is missing')")
    await page.click("[aria-label='Edit numbers of invoices']")
    await page.fill("[name=pattern]", "INV-{month}")
    await save()
    await page.waitForSelector("[name=pattern][aria-invalid=true]:focus")
    await page.fill("[name=pattern]", "R-{seq:4}")
    await save()
    await page.waitForSelector("section[aria-label=Invoices] dd:has-text('R-{seq:4}')")
  })

  it("download a list as CSV and everything as one archive", async () => {
    await openPart("/export")
    const download = async (label: string) => {
      const [file] = await Promise.all([page.waitForEvent("download"), page.click(`[aria-label='Download ${label}']`)])
      return readFileSync(await file.path())
    }
    assert.match((await download("Invoices as CSV")).toString(), /^id,contract,status,invoiceNumber.*\r?\n.*INV-/)
    assert.match((await download("Taxes as CSV")).toString(), /^currencyCode,/)
    assert.strictEqual((await download("Archive as ZIP")).subarray(0, 2).toString(), "PK")
  })

  it("offer a viewer nothing but to leave and to download", async () => {
    await invoicing.call("POST", "/members", { subject: "vera", role: "VIEWER" })
    await console.open("/settings", { as: "vera" })
    await page.waitForSelector("text=vera · Viewer")
    const offered = async (part: string, shown: string) => {
      await openPart(part)
      await page.waitForSelector(shown)
      return page.locator("main button:not([aria-label$=CSV]), main input[type=file]").allTextContents()
    }
    assert.deepStrictEqual(await offered("", "address"), [])
    assert.deepStrictEqual(await offered("/logo", "text=None yet"), [])
    assert.deepStrictEqual(await offered("/members", ".row:has-text('vera')"), ["Leave"])
    assert.deepStrictEqual(await offered("/taxes", ".row:has-text('VAT')"), [])
    assert.deepStrictEqual(await offered("/numbers", "section[aria-label='Credit notes'] .facts"), [])
    assert.deepStrictEqual(await offered("/export", "[aria-label='Download Clients as CSV']"), [])
    assert.deepStrictEqual(await offered("/usage", "tbody tr"), [])
    await openPart("/members")
    await page.click("[aria-label=Leave]")
    await save("Leave")
    await page.waitForSelector("h1:has-text('Welcome')")
  })
})

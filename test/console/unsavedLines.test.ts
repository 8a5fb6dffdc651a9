import type { Page, Route } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { invoiceClient } from "../support/fixtures/invoices.ts"
import { type RunningConsole, startConsole } from "../support/servers/console.ts"
import { holding } from "../support/servers/holding.ts"
import { isSkipped, titleOf } from "../support/servers/sharedBrowser.ts"

const linesRequest = "**/api/v1/billables"
const listOrLines = /\/api\/v1\/billables(\?|$)/

describe.skipIf(isSkipped)(titleOf("Unsaved lines in the console"), { timeout: 60_000 }, () => {
  let console: RunningConsole
  let invoicing: ReturnType<typeof invoiceClient>
  beforeAll(async () => {
    console = await startConsole()
    invoicing = invoiceClient(console.service, console.tenant)
  })
  afterAll(() => console?.stop())

  const openDraft = async () => {
    const { id } = await invoicing.draft()
    await invoicing.add(id, { name: "Saved", amountMinor: 1000 })
    const page = await console.open(`/invoices/${id}`)
    await page.waitForSelector("[aria-label='Name, line 1']")
    return { id, page }
  }
  const type = async (page: Page, line: number, name: string) => {
    await page.fill(`[aria-label='Name, line ${line}']`, name)
    await page.fill(`[aria-label='Price, line ${line}']`, "2")
  }
  const addLine = async (page: Page, line: number, name: string) => {
    await page.click("text=+ Add a line")
    await page.waitForSelector(`[aria-label='Name, line ${line}']:focus`)
    await type(page, line, name)
  }
  const save = async (page: Page) => {
    await page.keyboard.press("Control+s")
    await page.waitForSelector("text=The draft is saved")
  }
  const namesOf = async (id: string) => (await invoicing.lines(id)).map(({ name }) => name).sort()
  const shownNames = async (page: Page, count: number) => {
    await page.waitForSelector(`[aria-label='Name, line ${count}']`)
    return page.evaluate<ReadonlyArray<string>>(
      "[...document.querySelectorAll('.cell.name input')].map(({ value }) => value)"
    )
  }
  /** Answers the next POST of lines in another way. */
  const interceptOnce = async (page: Page, handle: (route: Route) => Promise<unknown>) => {
    let isDone = false
    await page.route(linesRequest, async (route) => {
      if (isDone || route.request().method() !== "POST") return route.fallback()
      isDone = true
      await handle(route)
    })
  }

  it("are there again after Back and Forward, and after a reload, and can be discarded", async () => {
    const { id, page } = await openDraft()
    await page.fill("[aria-label='Name, line 1']", "Changed")
    await addLine(page, 2, "Typed")
    await page.fill("#invoice-discount", "10%")
    await page.click("nav >> text=Clients")
    await page.waitForSelector("text=Your unsaved lines are kept")
    await page.goBack()
    assert.deepStrictEqual(await shownNames(page, 2), ["Changed", "Typed"])
    assert.strictEqual(await page.inputValue("#invoice-discount"), "10%")
    const asked: Array<string> = []
    page.on("dialog", (dialog) => {
      asked.push(dialog.type())
      void dialog.accept()
    })
    await console.open(`/invoices/${id}`)
    assert.deepStrictEqual(asked, ["beforeunload"])
    assert.deepStrictEqual(await shownNames(page, 2), ["Changed", "Typed"])
    assert.deepStrictEqual(await namesOf(id), ["Saved"])
    await save(page)
    assert.deepStrictEqual(await namesOf(id), ["Changed", "Typed"])
    await page.fill("[aria-label='Name, line 1']", "Mistake")
    await page.click("nav >> text=Clients")
    await page.waitForSelector("h1:has-text('Clients')")
    await page.goBack()
    await page.click("text=Discard it")
    assert.deepStrictEqual(await shownNames(page, 2), ["Changed", "Typed"])
    await page.waitForSelector(".page-head button[aria-disabled=true]:has-text('Save')")
    page.removeAllListeners("dialog")
  })

  const isSending = (route: Route) => route.request().method() === "POST"
  const loseAnswer = async (route: Route) => {
    await route.fetch()
    await route.abort()
  }
  /** Saves, and lets the creation of lines wait. */
  const saveAndHold = async (page: Page) => {
    const { arrived, hold, release } = holding()
    await interceptOnce(page, hold)
    await page.keyboard.press("Control+s")
    await arrived
    return { release }
  }

  it("are saved once if the answer is lost, also with what is typed afterwards", async () => {
    const { id, page } = await openDraft()
    await addLine(page, 2, "Travel")
    let lost = 0
    await page.route(linesRequest, (route) => (isSending(route) && lost++ < 2 ? loseAnswer(route) : route.fallback()))
    // The page tries again by itself before it reads the lines: that answer is lost too.
    const reading = page.waitForResponse((response) => response.request().method() === "GET" && lost === 2)
    await page.keyboard.press("Control+s")
    await page.waitForSelector("text=cannot be reached")
    await page.fill("[aria-label='Name, line 2']", "Travel to Bergen")
    await reading
    assert.deepStrictEqual(await shownNames(page, 2), ["Saved", "Travel to Bergen"])
    await save(page)
    await page.unroute(linesRequest)
    assert.deepStrictEqual(await namesOf(id), ["Saved", "Travel to Bergen"])
  })

  it("are saved once if somebody saves while the page tries again by itself", async () => {
    const { id, page } = await openDraft()
    await addLine(page, 2, "Travel")
    const second = holding()
    let sent = 0
    await page.route(linesRequest, (route) => {
      if (!isSending(route)) return route.fallback()
      sent++
      return sent === 1 ? loseAnswer(route) : sent === 2 ? second.hold(route) : route.fallback()
    })
    await page.keyboard.press("Control+s")
    await second.arrived
    await page.fill("[aria-label='Name, line 2']", "Travel to Bergen")
    await page.keyboard.press("Control+s")
    second.release()
    await page.waitForSelector("text=The draft is saved")
    await page.unroute(linesRequest)
    assert.deepStrictEqual(await namesOf(id), ["Saved", "Travel to Bergen"])
    assert.strictEqual(sent, 2)
  })

  it("are saved once if somebody saves before the page has read what it sent again", async () => {
    const { id, page } = await openDraft()
    await addLine(page, 2, "Travel")
    const reading = holding()
    let sent = 0
    await page.route(listOrLines, (route) => {
      if (isSending(route)) return ++sent === 1 ? loseAnswer(route) : route.fallback()
      return sent === 2 ? reading.hold(route) : route.fallback()
    })
    await page.keyboard.press("Control+s")
    await reading.arrived
    await page.fill("[aria-label='Name, line 2']", "Travel to Bergen")
    await page.keyboard.press("Control+s")
    await page.waitForSelector("text=The draft is saved")
    reading.release()
    assert.deepStrictEqual(await shownNames(page, 2), ["Saved", "Travel to Bergen"])
    await page.waitForSelector(".page-head button[aria-disabled=true]:has-text('Save')")
    await page.unroute(listOrLines)
    assert.deepStrictEqual(await namesOf(id), ["Saved", "Travel to Bergen"])
  })

  it("of a changed line are saved without a question if the answer is lost", async () => {
    const { id, page } = await openDraft()
    await page.fill("[aria-label='Name, line 1']", "Saved again")
    let lost = 0
    await page.route("**/api/v1/billables/*", (route) =>
      route.request().method() === "PATCH" && lost++ === 0 ? loseAnswer(route) : route.fallback()
    )
    await page.keyboard.press("Control+s")
    await page.waitForSelector("text=cannot be reached")
    await save(page)
    await page.unroute("**/api/v1/billables/*")
    assert.deepStrictEqual(await namesOf(id), ["Saved again"])
  })

  it("that are typed while a save runs are saved next if somebody saves again", async () => {
    const { id, page } = await openDraft()
    await addLine(page, 2, "First")
    const { release } = await saveAndHold(page)
    await page.fill("[aria-label='Name, line 2']", "First, longer")
    await page.keyboard.press("Control+s")
    await addLine(page, 3, "Second")
    release()
    await page.waitForSelector(".page-head button[aria-disabled=true]:has-text('Save')")
    await page.unroute(linesRequest)
    assert.deepStrictEqual(await namesOf(id), ["First, longer", "Saved", "Second"])
  })

  it("keep the cursor where it is when they are saved and read again", async () => {
    const { page } = await openDraft()
    await page.fill("[aria-label='Name, line 1']", "Changed")
    await addLine(page, 2, "Travel")
    await page.focus("[aria-label='Name, line 2']")
    const reading = page.waitForResponse((response) => response.url().includes("/tax-rates"))
    await save(page)
    await reading
    await page.waitForSelector(".page-head button[aria-disabled=true]:has-text('Save')")
    await page.keyboard.type(" to Bergen")
    assert.deepStrictEqual(await shownNames(page, 2), ["Changed", "Travel to Bergen"])
    await save(page)
  })

  it("are shown once if the draft is read again before the answer arrives", async () => {
    const { id, page } = await openDraft()
    await page.click("nav >> text=Clients")
    await page.waitForSelector("h1:has-text('Clients')")
    const [reading, answer] = [holding(), holding()]
    await page.route(listOrLines, async (route) => {
      if (!isSending(route)) return reading.hold(route)
      const response = await route.fetch()
      await answer.hold(route, () => route.fulfill({ response }))
    })
    await page.goBack()
    await page.waitForSelector("[aria-label='Name, line 1']")
    await addLine(page, 2, "First")
    await page.keyboard.press("Control+s")
    await answer.arrived
    const lastPart = page.waitForResponse((response) => response.url().includes("/contracts/"))
    reading.release()
    await lastPart
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert.deepStrictEqual(await shownNames(page, 2), ["Saved", "First"])
    answer.release()
    await page.waitForSelector(".page-head button[aria-disabled=true]:has-text('Save')")
    await page.unroute(listOrLines)
    assert.deepStrictEqual(await namesOf(id), ["First", "Saved"])
  })

  it("that are removed while they are sent are deleted with the next save", async () => {
    const { id, page } = await openDraft()
    await addLine(page, 2, "Mistake")
    const { release } = await saveAndHold(page)
    await page.click("[aria-label='Remove line 2']")
    release()
    await page.waitForSelector("[aria-label='Line 2, removed']")
    await page.unroute(linesRequest)
    assert.deepStrictEqual(await namesOf(id), ["Mistake", "Saved"])
    await page.click(".page-head button:has-text('Save')")
    await page.waitForSelector(".page-head button[aria-disabled=true]:has-text('Save')")
    assert.deepStrictEqual(await namesOf(id), ["Saved"])
  })

  it("are saved once if the page is left while they are on their way", async () => {
    const { id, page } = await openDraft()
    await addLine(page, 2, "Travel")
    const answer = holding()
    await interceptOnce(page, async (route) => {
      await route.fetch()
      await answer.hold(route, () => route.abort().catch(() => undefined))
    })
    page.once("dialog", (dialog) => void dialog.accept())
    await page.keyboard.press("Control+s")
    await answer.arrived
    await page.goto("about:blank")
    answer.release()
    await page.unroute(linesRequest)
    await console.open(`/invoices/${id}`)
    assert.deepStrictEqual(await shownNames(page, 2), ["Saved", "Travel"])
    await page.waitForSelector(".page-head button[aria-disabled=true]:has-text('Save')")
    assert.deepStrictEqual(await namesOf(id), ["Saved", "Travel"])
  })

  it("that are typed while a save runs are neither lost nor saved with it", async () => {
    const { id, page } = await openDraft()
    await addLine(page, 2, "First")
    const { release } = await saveAndHold(page)
    await page.fill("[aria-label='Name, line 2']", "First, longer")
    await addLine(page, 3, "Second")
    release()
    await page.waitForSelector("text=The draft is saved")
    await page.unroute(linesRequest)
    assert.deepStrictEqual(await namesOf(id), ["First", "Saved"])
    assert.deepStrictEqual(await shownNames(page, 3), ["Saved", "First, longer", "Second"])
    await page.waitForSelector(".page-head button.primary:has-text('Save')")
    await page.click(".page-head button:has-text('Save')")
    await page.waitForSelector(".page-head button[aria-disabled=true]:has-text('Save')")
    assert.deepStrictEqual(await namesOf(id), ["First, longer", "Saved", "Second"])
  })

  it("of a large paste are saved once if a later request of the same save fails", async () => {
    const { id, page } = await openDraft()
    await page.click("text=+ Add a line")
    await page.waitForSelector("[aria-label='Name, line 2']:focus")
    await page.evaluate(`{
      const clipboardData = new DataTransfer()
      clipboardData.setData("text/plain", Array.from({ length: 1001 }, (_, n) => "Pasted " + n + "\\t1\\t1").join("\\n"))
      document.activeElement.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }))
    }`)
    await page.waitForSelector(".totals .sum dd[data-amount='101100']")
    let sent = 0
    await page.route(linesRequest, (route) =>
      isSending(route) && ++sent >= 2 && sent <= 3 ? route.abort() : route.fallback()
    )
    const reading = page.waitForResponse((response) => response.request().method() === "GET" && sent === 3)
    await page.keyboard.press("Control+s")
    await page.waitForSelector("text=cannot be reached")
    await reading
    await save(page)
    await page.unroute(linesRequest)
    assert.strictEqual((await invoicing.read(id)).billableCount, 1002)
  })
})

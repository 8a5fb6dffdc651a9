import type { Page } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { insertDeliveredEvents } from "../support/fixtures/deliveredRows.ts"
import { integrationClient } from "../support/fixtures/integrations.ts"
import { type RunningConsole, startConsole } from "../support/servers/console.ts"
import { isSkipped, titleOf } from "../support/servers/sharedBrowser.ts"
import { eventually, type RunningWorker, startWorker } from "../support/servers/worker.ts"

const markup = `<img src=x onerror="document.title='ran'"><b>Bold</b>`
const eventCount = 1500
/** In DOM nodes: what a feed may render. */
const maxNodes = 1500

describe.skipIf(isSkipped)(titleOf("The events of the console"), { timeout: 60_000 }, () => {
  let console: RunningConsole
  let relay: RunningWorker
  beforeAll(async () => {
    console = await startConsole()
    relay = await startWorker(console.service, "relay")
  })
  afterAll(async () => {
    await relay?.stop()
    await console?.stop()
  })

  const firstRow = (page: Page) => page.textContent("[aria-posinset='1']")
  const openLive = async (path = "/events") => {
    const page = await console.open(path)
    await page.waitForSelector("text=Live")
    await page.waitForSelector(".virtual .row")
    return page
  }

  it("appear by themselves, newest first, as text, with the way to what they are about", async () => {
    const page = await openLive()
    await page.waitForSelector(".virtual .row:has-text('tenant.created')")
    const { id } = await console.make("clients", { name: markup })
    await page.waitForSelector(".virtual .row:has-text('client.created')")
    assert.include(await firstRow(page), markup)
    await page.click(".virtual .row:has-text('client.created')")
    await page.waitForSelector("dialog:has-text('A client was created.')")
    const json: string = JSON.parse((await page.textContent("dialog [aria-label='The event as JSON']")) ?? "").data.name
    assert.strictEqual(json, markup)
    assert.strictEqual(await page.locator("main img, main b").count(), 0)
    await page.click("dialog >> text=Open what it is about")
    await page.waitForURL(`**/clients/${id}`)
    await page.waitForSelector("h1:has-text('<img')")
    assert.notStrictEqual(await page.title(), "ran")
  })

  it("are filtered by a type that the address names", async () => {
    const page = await openLive("/events?type=client.*")
    const types = await page.locator(".virtual .row strong").allTextContents()
    assert.deepStrictEqual([...new Set(types)], ["client.created"])
    await page.selectOption("[aria-label='Event type']", "tenant.*")
    await page.waitForSelector(".virtual .row:has-text('tenant.created')")
    assert.strictEqual(new URL(page.url()).searchParams.get("type"), "tenant.*")
  })

  it("wait while somebody reads one, or has paused them, and then appear", async () => {
    const page = await console.open("/events")
    // A fake clock runs the timers of the page without a wait.
    await page.clock.install()
    await openLive()
    /** Whether the page asks for new events within a minute. */
    const asksForNews = async () => {
      const asked: Array<string> = []
      const listen = (request: { url: () => string }) => asked.push(request.url())
      page.on("request", listen)
      await page.clock.runFor(60_000)
      await page.evaluate("fetch('/console').then((response) => response.text())")
      page.off("request", listen)
      return asked.some((url) => url.includes("/events?after="))
    }
    assert.isTrue(await asksForNews())
    await page.click("[aria-posinset='1'] .row")
    await page.waitForSelector("text=Paused while you read")
    assert.isFalse(await asksForNews())
    await console.make("clients", { name: "Unseen" })
    await page.keyboard.press("Escape")
    await page.waitForSelector(".virtual .row:has-text('Unseen')")
    await page.click("main button:has-text('Pause')")
    await page.waitForSelector(".live.off")
    assert.isFalse(await asksForNews())
    await console.make("clients", { name: "Later" })
    await page.click("main button:has-text('Resume')")
    await page.waitForSelector(".virtual .row:has-text('Later')")
  })

  it(`render a bounded number of nodes for ${eventCount} events, and reach the first one`, async () => {
    const { id } = await integrationClient(console.service, console.tenant).mustCreate({
      provider: "NATS",
      name: "Busy"
    })
    await insertDeliveredEvents(console.pool, console.tenant, id, eventCount)
    const page = await openLive()
    await eventually(async () => {
      await page.evaluate("document.querySelector('.virtual').scrollTop = 1e9")
      return page.locator(".virtual .row:has-text('tenant.created')").isVisible()
    }, "the first event")
    assert.isBelow(await page.evaluate<number>("document.querySelectorAll('*').length"), maxNodes)
    await page.waitForSelector("text=Paused while you read")
  })
})

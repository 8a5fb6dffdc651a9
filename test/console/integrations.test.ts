import type { Page } from "playwright-core"
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "vitest"
import { tabTo } from "../support/assertions/keyboard.ts"
import { minimalDrive } from "../support/fixtures/authorizations.ts"
import { insertDeliveredEvents } from "../support/fixtures/deliveredRows.ts"
import { integrationClient } from "../support/fixtures/integrations.ts"
import { insertAuthorization } from "../support/fixtures/issueRows.ts"
import { makeWebhookBody, signJiraToken } from "../support/fixtures/jiraWebhookBody.ts"
import { assertAccepted, jiraSender } from "../support/fixtures/jiraWebhooks.ts"
import { addMember } from "../support/fixtures/members.ts"
import { goTo, type RunningConsole, startConsole } from "../support/servers/console.ts"
import { holding } from "../support/servers/holding.ts"
import { clientSecret, type OAuthProviderServer, startOAuthProvider } from "../support/servers/oauthProvider.ts"
import { findClosedPort } from "../support/servers/proxy.ts"
import { type Receiver, startReceiver } from "../support/servers/receiver.ts"
import { isSkipped, titleOf } from "../support/servers/sharedBrowser.ts"
import { eventually, type RunningWorker, startWorker } from "../support/servers/worker.ts"

const markup = `<img src=x onerror="document.title='ran'"><b>Bold</b>`
const deliveryCount = 2000
/** In DOM nodes: what a list of deliveries may render. */
const maxNodes = 1500

describe.skipIf(isSkipped)(titleOf("Integrations in the console"), { timeout: 60_000 }, () => {
  let console: RunningConsole
  let provider: OAuthProviderServer
  let receiver: Receiver
  let workers: ReadonlyArray<RunningWorker> = []
  let integrations: ReturnType<typeof integrationClient>
  beforeAll(async () => {
    provider = await startOAuthProvider()
    receiver = await startReceiver()
    const port = await findClosedPort()
    console = await startConsole({
      ...provider.environment,
      PORT: String(port),
      PUBLIC_URL: `http://127.0.0.1:${port}`,
      OAUTH_TRUSTED_ORIGINS: ""
    })
    integrations = integrationClient(console.service, console.tenant)
    workers = await Promise.all(
      (["relay", "delivery", "intake"] as const).map((name) => startWorker(console.service, name))
    )
  })
  // Only a redelivery tries again within the hour.
  beforeEach(() =>
    receiver.respondWith((_, response) => response.writeHead(503, { "retry-after": "3600" }).end(markup))
  )
  afterAll(async () => {
    await Promise.all(workers.map(({ stop }) => stop()))
    await console?.stop()
    await receiver?.stop()
    await provider?.stop()
  })

  /** A webhook integration with one delivery that the receiver has rejected once. Returns its id. */
  const createFailing = async (name: string) => {
    const { id } = await integrations.mustCreate({
      provider: "WEBHOOK",
      name,
      config: { url: `${receiver.url}/${name}` }
    })
    await integrations.mustSubscribe(id, { eventType: "client.created" })
    await console.make("clients", { name: `Client of ${name}` })
    await eventually(async () => {
      const { body } = await integrations.call("GET", `/${id}/deliveries`)
      return body.data[0]?.attempts === 1 && body.data[0]?.error !== undefined
    }, "the receiver rejects the delivery")
    await integrations.unsubscribe(id, (await integrations.get(id)).body.data.subscriptions[0].id)
    return id
  }
  const acceptAll = () => receiver.respondWith((_, response) => response.end("thanks"))
  const receivedBy = (name: string) => receiver.received.filter(({ path }) => path === `/${name}`)
  const mainButtons = (page: Page) => page.locator("main button").allTextContents()

  it("lead to the attempt that failed and to its redelivery in three clicks, which deliver it once", async () => {
    await createFailing("books")
    const page = await console.open("/integrations")
    await page.click(".virtual .row:has-text('books')")
    await page.click(".virtual .row:has-text('client.created')")
    await page.waitForSelector("dialog .attempt:has-text('Attempt 1'):has-text('503'):has-text('ms')")
    assert.strictEqual(await page.textContent("dialog [aria-label='Answer to attempt 1']"), markup)
    assert.strictEqual(await page.locator("dialog img, dialog b").count(), 0)
    acceptAll()
    await page.dblclick("dialog button:has-text('Redeliver')")
    await page.waitForSelector("dialog .attempt:has-text('Attempt 2'):has-text('200')")
    await page.waitForSelector("dialog .delivery-head:has-text('Delivered')")
    const received = receivedBy("books")
    assert.lengthOf(received, 2)
    assert.strictEqual(received[0]?.text, received[1]?.text)
    await page.click("dialog summary:has-text('Request')")
    await page.waitForSelector("dialog [aria-label=Request]:has-text('Client of books')")
    await page.goBack()
    await page.waitForSelector("dialog", { state: "detached" })
    await page.waitForSelector(".virtual .row:has-text('Delivered')")
  })

  it("show what comes of a redelivery also if an older reading of it is answered last", async () => {
    const id = await createFailing("late")
    const isDelivered = async () => {
      const { body } = await integrations.call("GET", `/${id}/deliveries`)
      return body.data[0].status === "DELIVERED"
    }
    const [answer, older] = [holding(), holding()]
    receiver.respondWith((_, response) => void answer.wait().then(() => response.end("thanks")))
    const page = await console.open(`/integrations/${id}`)
    await page.click(".virtual .row:has-text('client.created')")
    await page.waitForSelector("dialog .attempt:has-text('Attempt 1')")
    let readings = 0
    await page.route("**/deliveries/*", (route) => (++readings === 1 ? older.hold(route) : route.fallback()))
    await older.arrived
    // A hidden page reads only after its own changes.
    const hide = (isHidden: boolean) =>
      page.evaluate(`Object.defineProperty(document, "hidden", { value: ${isHidden}, configurable: true })`)
    await hide(true)
    const ownReading = page.waitForResponse("**/deliveries/*")
    await page.click("dialog button:has-text('Redeliver')")
    await answer.arrived
    await (await ownReading).finished()
    answer.release()
    await eventually(isDelivered, "the receiver has accepted it")
    const olderReading = page.waitForResponse("**/deliveries/*")
    older.release()
    await (await olderReading).finished()
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    await hide(false)
    await page.waitForSelector("dialog .delivery-head:has-text('Delivered')")
    await page.unroute("**/deliveries/*")
  })

  it("show what comes of a redelivery also if every answer takes longer than the time between two readings", async () => {
    const id = await createFailing("far")
    acceptAll()
    const page = await console.open(`/integrations/${id}`)
    await page.waitForSelector(".virtual .row:has-text('client.created')")
    await page.route("**/deliveries?*", async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 3200))
      await route.continue()
    })
    const { body } = await integrations.call("GET", `/${id}/deliveries`)
    await integrations.call("POST", `/${id}/deliveries/${body.data[0].id}/redeliver`)
    await page.waitForSelector(".virtual .row:has-text('Delivered')")
    await page.unroute("**/deliveries?*")
  })

  it("work with the keyboard alone, from Home to the redelivery", async () => {
    await createFailing("ledger")
    acceptAll()
    const page = await console.open("")
    await page.waitForSelector("text=Latest drafts")
    await page.keyboard.press("g")
    await page.keyboard.press("w")
    await page.waitForSelector(".virtual .row:has-text('ledger')")
    await tabTo(page, "ledger")
    await page.keyboard.press("Enter")
    await page.waitForSelector(".virtual .row:has-text('client.created')")
    await tabTo(page, "client.created")
    await page.keyboard.press("Enter")
    await page.waitForSelector("dialog .attempt")
    await tabTo(page, "Redeliver")
    await page.keyboard.press("Enter")
    await page.waitForSelector("dialog .delivery-head:has-text('Delivered')")
    await page.keyboard.press("Escape")
    await page.waitForSelector(".virtual .row:focus")
    assert.lengthOf(receivedBy("ledger"), 2)
  })

  it("are created once, show their secret once, and are pinged, paused, resumed and subscribed", async () => {
    acceptAll()
    const page = await console.open("/integrations")
    await page.click("main button:has-text('New integration')")
    await page.fill("input[name=name]", markup)
    await page.check("label:has-text('E-mail') input")
    await page.click("dialog button:has-text('Create integration')")
    await page.waitForSelector(".kinds .error:has-text('not configured')")
    await page.check("label:has-text('Webhook') input")
    await page.fill("input[name='config.url']", "ftp://books.example")
    await page.click("dialog button:has-text('Create integration')")
    await page.waitForSelector("input[name='config.url'][aria-invalid=true]:focus")
    await page.fill("input[name='config.url']", `${receiver.url}/made`)
    await page.dblclick("dialog button:has-text('Create integration')")
    const secret = await page.inputValue("dialog input[aria-label=Secret]")
    assert.match(secret, /^whsec_/)
    await page.click("text=I have kept it")
    await page.waitForSelector("h1:has-text('<img')")
    assert.strictEqual(await page.locator("main img, main h1 b").count(), 0)
    assert.notInclude(await page.content(), secret)
    const made = (await integrations.call("GET", "")).body.data.filter(
      ({ name }: { readonly name: string }) => name === markup
    )
    assert.lengthOf(made, 1)
    await page.click("main button:has-text('Ping')")
    await page.waitForSelector(".virtual .row:has-text('integration.ping'):has-text('Delivered')")
    await page.click("main button:has-text('Pause')")
    await page.waitForSelector("h1:has-text('Paused')")
    await page.click("main button:has-text('Resume')")
    await page.waitForSelector("h1:has-text('Active')")
    await page.click(".tabs >> text=Subscriptions")
    await page.click("main button:has-text('Subscribe')")
    await page.click("dialog button:has-text('Subscribe')")
    await page.waitForSelector("select[name=eventType][aria-invalid=true]")
    await page.selectOption("select[name=eventType]", "invoice.*")
    await page.click("dialog button:has-text('Subscribe')")
    await page.click("[aria-label='Unsubscribe from invoice.*']")
    await page.waitForSelector("text=No subscription yet")
    assert.isEmpty((await integrations.get(made[0].id)).body.data.subscriptions)
  })

  it("with a mail server keep its password until another one is typed", async () => {
    const page = await console.open("/integrations")
    await page.click("main button:has-text('New integration')")
    await page.check("label:has-text('E-mail') input")
    await page.fill("input[name=name]", "Post")
    await page.fill("input[name='config.host']", "127.0.0.1")
    await page.fill("input[name='config.port']", "587")
    await page.selectOption("select[name='config.security']", "STARTTLS")
    await page.fill("input[name='config.user']", "billing")
    await page.fill("input[name='config.from']", "billing@mail.example")
    await page.fill("input[name=password]", "first")
    await page.click("dialog button:has-text('Create integration')")
    await page.waitForSelector("h1:has-text('Post')")
    const id = page.url().split("/").at(-1)
    const readGeneration = async () =>
      (await console.pool.query("select generation from integration_secrets where integration_id = $1", [id])).rows
    const edit = async (field: string, text: string) => {
      await page.click("main button:has-text('Edit')")
      await page.fill(`input[name=${field}]`, text)
      await page.click("dialog button:has-text('Save')")
      await page.waitForSelector("dialog", { state: "detached" })
    }
    assert.deepStrictEqual(await readGeneration(), [{ generation: 1 }])
    await edit("name", "Mail")
    await page.waitForSelector("h1:has-text('Mail')")
    assert.deepStrictEqual(await readGeneration(), [{ generation: 1 }])
    await edit("password", "second")
    assert.deepStrictEqual(await readGeneration(), [{ generation: 2 }])
  })

  it("that somebody else has changed are not overwritten before their change is shown", async () => {
    const { id } = await integrations.mustCreate({ provider: "NATS", name: "Stream" })
    const page = await console.open(`/integrations/${id}`)
    await page.click("main button:has-text('Edit')")
    await page.fill("input[name=name]", "River")
    await integrations.patch(id, { name: "Brook" })
    await page.click("dialog button:has-text('Save')")
    await page.waitForSelector("dialog:has-text('Somebody else was faster') mark:has-text('Brook')")
    await page.click("text=Apply my change")
    await page.waitForSelector("h1:has-text('River')")
  })

  it("are authorized in a popup, whose end the page shows", async () => {
    const { id } = await integrations.mustCreate(minimalDrive)
    const page = await console.open("")
    await page.click("main .row:has-text('Drive')")
    const openPopup = async () => {
      const popup = page.waitForEvent("popup")
      await page.click("main button:has-text('Authorize')")
      return popup
    }
    provider.overrideResponse("/token", { status: 400, body: { error: "invalid_grant" } })
    const failing = await openPopup()
    await page.waitForSelector(".toast.bad:has-text('could not complete')")
    await failing.close()
    provider.overrideResponse("/token", undefined)
    const popup = await openPopup()
    if (!popup.isClosed()) await popup.waitForEvent("close")
    await page.waitForSelector("h1:has-text('Active')")
    assert.isTrue((await integrations.get(id)).body.data.isAuthorized)
    assert.strictEqual(await page.locator("main button.primary").count(), 0)
  })

  it("with Jira list the issues and the webhooks, and replay a webhook that failed", async () => {
    const jira = jiraSender(console.service)
    const { id, key } = await jira.createIntegration(console.tenant)
    await insertAuthorization(console.pool, id, 1007)
    const body = makeWebhookBody("created", { key: "NORTH-7", title: markup })
    assertAccepted(await jira.send(key, body, { as: await signJiraToken({}, clientSecret) }))
    await eventually(async () => (await integrations.call("GET", `/${id}/issues`)).body.data.length === 1, "the issue")
    await console.pool.query(
      "update inbound_webhooks set status = 'FAILED', error = 'out of luck' where integration_id = $1",
      [id]
    )
    await console.pool.query("delete from tracked_issues where integration_id = $1", [id])
    const page = await console.open(`/integrations/${id}`)
    await page.selectOption("[aria-label=Status]", "FAILED")
    await page.click(".virtual .row:has-text('out of luck')")
    await page.waitForSelector("dialog [aria-label=Body]:has-text('NORTH-7')")
    assert.strictEqual(new URL(page.url()).searchParams.get("status"), "FAILED")
    await page.dblclick("dialog button:has-text('Replay')")
    await page.waitForSelector("dialog .delivery-head:has-text('Done')")
    await page.keyboard.press("Escape")
    await page.click(".tabs >> text=Issues")
    await page.waitForSelector(".virtual .row:has-text('NORTH-7'):has-text('<img')")
    assert.strictEqual(await page.locator("main img").count(), 0)
    assert.notStrictEqual(await page.title(), "ran")
  })

  it("offer a viewer nothing that a viewer may not do", async () => {
    const id = await createFailing("quiet")
    await addMember(console.service, console.tenant, "vera", "VIEWER")
    const page = await console.open("/integrations", { as: "vera" })
    await page.waitForSelector("text=vera · Viewer")
    await page.waitForSelector(".virtual .row")
    assert.deepStrictEqual(await mainButtons(page), [])
    await goTo(page, `/console/${console.tenant}/integrations/${id}`)
    await page.click(".virtual .row:has-text('client.created')")
    await page.waitForSelector("dialog .attempt")
    assert.deepStrictEqual(await mainButtons(page), ["×"])
    await goTo(page, `/console/${console.tenant}/integrations/${id}/subscriptions`)
    await page.waitForSelector("section:has-text('Subscriptions')")
    assert.deepStrictEqual(await mainButtons(page), [])
  })

  it(`render a bounded number of nodes for ${deliveryCount} deliveries, and reach the last one`, async () => {
    const { id } = await integrations.mustCreate({ provider: "NATS", name: "Busy" })
    await insertDeliveredEvents(console.pool, console.tenant, id, deliveryCount)
    const page = await console.open(`/integrations/${id}`)
    await page.waitForSelector(".virtual .row")
    await eventually(async () => {
      await page.evaluate("document.querySelector('.virtual').scrollTop = 1e9")
      return page.locator(`[aria-posinset='${deliveryCount}']`).isVisible()
    }, "the last delivery")
    assert.isBelow(await page.evaluate<number>("document.querySelectorAll('*').length"), maxNodes)
  })
})

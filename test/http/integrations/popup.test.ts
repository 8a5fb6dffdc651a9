import { Effect, Layer } from "effect"
import type pg from "pg"
import type { BrowserContext, Page } from "playwright-core"
import { afterAll, afterEach, assert, beforeAll, beforeEach, describe, it, onTestFinished } from "vitest"
import { PostgresBlobs } from "../../../src/layers/infra/blobs/PostgresBlobs.ts"
import { JanitorDependencies, runCleanupRound } from "../../../src/workers/janitor/Janitor.ts"
import type { PageData } from "../../support/assertions/callbackPage.ts"
import { blocksOf, sectionOf } from "../../support/assertions/docs.ts"
import { minimalDrive } from "../../support/fixtures/authorizations.ts"
import { type IntegrationBody, integrationClient } from "../../support/fixtures/integrations.ts"
import { startConsentServer } from "../../support/servers/consentServer.ts"
import { openPool } from "../../support/servers/database.ts"
import { testLayers } from "../../support/servers/layers.ts"
import { serveOnLoopback } from "../../support/servers/loopback.ts"
import { findClosedPort } from "../../support/servers/proxy.ts"
import { type Service, startService } from "../../support/servers/service.ts"
import { closeContexts, isSkipped, sharedBrowser, titleOf } from "../../support/servers/sharedBrowser.ts"

interface ReceivedMessage {
  readonly origin: string
  readonly data: PageData["message"]
}

/** The page of an application that opens the popup and records the messages it receives. */
const application = `<!doctype html><title>app</title><button>Connect</button><script>
  window.messages = []
  addEventListener("message", ({ data, origin }) => messages.push({ data, origin }))
  document.querySelector("button").onclick = () => window.open(window.address, "popup", "width=500,height=600")
</script>`

const [documentedScript] = blocksOf(sectionOf("docs/jira.md", "Authorize in a popup"), "js")

describe.skipIf(isSkipped)(titleOf("The OAuth popup"), { timeout: 60_000 }, () => {
  let context: BrowserContext
  /** The page of the application. It stays open, because a page costs a second of CPU. */
  let app: Page
  let service: Service
  let pool: pg.Pool
  let tenant: string
  let trusted: Awaited<ReturnType<typeof serveOnLoopback>>
  let untrusted: typeof trusted
  let consent: Awaited<ReturnType<typeof startConsentServer>>
  let environment: Record<string, string>
  beforeAll(async () => {
    const serveApplication = () =>
      serveOnLoopback((_, response) => response.setHeader("content-type", "text/html").end(application))
    trusted = await serveApplication()
    untrusted = await serveApplication()
    const port = await findClosedPort()
    const publicUrl = `http://127.0.0.1:${port}`
    consent = await startConsentServer(`${publicUrl}/api/v1/integrations/oauth/callback`)
    environment = { PUBLIC_URL: publicUrl, OAUTH_TRUSTED_ORIGINS: trusted.url, ...consent.environment }
    service = await startService({ PORT: String(port), CORS_ORIGINS: trusted.url, ...environment })
    pool = openPool(service.database.url)
    tenant = await service.newTenant()
    await openContext()
  })
  const openContext = async () => {
    await closeContexts()
    context = await (await sharedBrowser()).newContext()
    app = await context.newPage()
  }
  beforeEach(() => context.clearCookies())
  afterEach(() => Promise.all(context.pages().map((page) => page === app || page.close())))
  afterAll(async () => {
    await closeContexts()
    await pool?.end()
    await service?.stop()
    for (const server of [consent, trusted, untrusted]) await server?.stop()
  })

  const beginAuthorization = async () => {
    const integrations = integrationClient(service, tenant)
    const { id } = await integrations.mustCreate(minimalDrive)
    const { body, status, text } = await integrations.call("POST", `/${id}/authorize`, { origin: trusted.url })
    assert.strictEqual(status, 200, text)
    return { id, address: String(body.data.authorizationUrl) }
  }
  const readIntegration = async (id: string) => (await integrationClient(service, tenant).get(id)).body.data

  /** Lets the application open the popup at an address. */
  const openPopup = async (address: string) => {
    await app.evaluate(`window.address = ${JSON.stringify(address)}`)
    const popup = context.waitForEvent("page")
    await app.click("button")
    return popup
  }
  const logIn = async (popup: Page) => {
    await popup.fill("input[name=login]", "ines")
    await popup.fill("input[name=password]", "anything")
    await popup.click("button[type=submit]")
    await popup.waitForSelector("text=Authorize")
  }
  const readMessages = () => app.evaluate<ReadonlyArray<ReceivedMessage>>("window.messages")
  const waitForCallbackPage = (popup: Page) => popup.waitForURL("**/api/v1/integrations/oauth/callback")

  it("posts a confirmation to the application after login and consent, and closes", async () => {
    const { address, id } = await beginAuthorization()
    await app.goto(trusted.url)
    const popup = await openPopup(address)
    await logIn(popup)
    const closed = popup.waitForEvent("close")
    await popup.click("button[type=submit]")
    await closed
    const messages = await readMessages()
    assert.lengthOf(messages, 1)
    const { data, origin } = messages[0] ?? assert.fail()
    assert.strictEqual(origin, service.url)
    const { confirmation = "", ...rest } = data ?? assert.fail()
    assert.deepStrictEqual(rest, {
      type: "integration.oauth",
      v: 1,
      status: "success",
      integrationId: id,
      provider: "GOOGLE_DRIVE"
    })
    assert.isFalse((await readIntegration(id)).isAuthorized)
    const status = await app.evaluate(`fetch(${JSON.stringify(`${service.url}/api/v1/integrations/${id}/confirm`)}, {
      method: "POST",
      headers: {
        authorization: "Bearer ${await service.token("owner")}",
        "tenant-id": "${tenant}",
        "content-type": "application/json"
      },
      body: JSON.stringify({ confirmation: ${JSON.stringify(confirmation)} })
    }).then(({ status }) => status)`)
    assert.strictEqual(status, 200)
    assert.deepInclude(await readIntegration(id), { isAuthorized: true, status: "ACTIVE" })
  })

  it("is opened and confirmed by the script in docs/jira.md", async () => {
    const { id } = await integrationClient(service, tenant).mustCreate(minimalDrive)
    await app.goto(trusted.url)
    const globals = { api: service.url, token: await service.token("owner"), tenant }
    await app.evaluate(`Object.assign(window, ${JSON.stringify(globals)})`)
    await app.addScriptTag({ content: documentedScript ?? assert.fail("docs/jira.md has no script") })
    await app.evaluate(`document.querySelector("button").onclick = () => { window.authorizing = authorize("${id}") }`)
    const opening = context.waitForEvent("page")
    await app.click("button")
    const popup = await opening
    await logIn(popup)
    await popup.click("button[type=submit]")
    const authorized = await app.evaluate<IntegrationBody>("new Promise((resolve) => resolve(window.authorizing))")
    assert.deepInclude(authorized, { id, isAuthorized: true, status: "ACTIVE" })
    assert.deepStrictEqual(await readIntegration(id), authorized)
  })

  it("posts access_denied to the application when the person declines, and stays open", async () => {
    const { address, id } = await beginAuthorization()
    await app.goto(trusted.url)
    const popup = await openPopup(address)
    await logIn(popup)
    // The page closes itself with a timer; a fake clock runs the timers of the last page without a wait.
    await popup.clock.install()
    onTestFinished(openContext) // the clock is that of the context
    await popup.click("a[href$='/abort']")
    await waitForCallbackPage(popup)
    await popup.waitForSelector("text=declined")
    assert.notInclude(popup.url(), "?", "the query is removed from the address")
    assert.deepStrictEqual(await readMessages(), [
      {
        origin: service.url,
        data: {
          type: "integration.oauth",
          v: 1,
          status: "error",
          integrationId: id,
          provider: "GOOGLE_DRIVE",
          code: "access_denied"
        }
      }
    ])
    await popup.clock.runFor(60_000)
    assert.isFalse(popup.isClosed())
    assert.isFalse((await readIntegration(id)).isAuthorized)
  })

  const runJanitor = () =>
    Effect.runPromise(
      Effect.provide(
        runCleanupRound,
        Layer.provideMerge(
          JanitorDependencies.pipe(Layer.provide(PostgresBlobs)),
          testLayers(service.database.url, { DATA_DIR: service.dataDir, ...environment })
        )
      )
    )
  const countPendingGrants = async (id: string) => {
    const { rows } = await pool.query("select 1 from pending_grants where integration_id = $1", [id])
    return rows.length
  }

  it("authorizes nothing when another person follows the link, and the janitor deletes the grant", async () => {
    const { address, id } = await beginAuthorization()
    const victim = await context.newPage()
    await victim.goto(address)
    await logIn(victim)
    await victim.click("button[type=submit]")
    await waitForCallbackPage(victim)
    await victim.waitForSelector("text=nothing was authorized")
    assert.isFalse(await victim.isVisible("text=Thank you"))
    assert.strictEqual(await countPendingGrants(id), 1)
    await pool.query("update pending_grants set expires_at = now() where integration_id = $1", [id])
    await runJanitor()
    assert.strictEqual(await countPendingGrants(id), 0)
    assert.deepInclude(await readIntegration(id), { isAuthorized: false, status: "PENDING_AUTH" })
  })

  it("posts nothing to an application of an untrusted origin", async () => {
    const { address, id } = await beginAuthorization()
    await app.goto(untrusted.url)
    const popup = await openPopup(address)
    await logIn(popup)
    const rejectedMessage = app.waitForEvent("console", (entry) => entry.text().includes("'postMessage'"))
    const closed = popup.waitForEvent("close")
    await popup.click("button[type=submit]")
    await closed
    assert.include((await rejectedMessage).text(), "does not match the recipient window's origin")
    assert.deepStrictEqual(await readMessages(), [])
    assert.strictEqual(await countPendingGrants(id), 1)
    assert.isFalse((await readIntegration(id)).isAuthorized)
  })
})

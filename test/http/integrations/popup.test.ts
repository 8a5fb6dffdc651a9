import { readFileSync } from "node:fs"
import { Effect, Layer } from "effect"
import type pg from "pg"
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core"
import { afterAll, afterEach, assert, beforeAll, beforeEach, describe, it } from "vitest"
import { findBrowser, withoutBrowser } from "../../../scripts/browser.mjs"
import { PostgresBlobs } from "../../../src/layers/blobs/PostgresBlobs.ts"
import { JanitorDependencies, runCleanupRound } from "../../../src/workers/janitor/Janitor.ts"
import type { PageData } from "../../support/assertions/callbackPage.ts"
import { minimalDrive } from "../../support/fixtures/authorizations.ts"
import { type IntegrationBody, integrationClient } from "../../support/fixtures/integrations.ts"
import { startConsentServer } from "../../support/servers/consentServer.ts"
import { openPool } from "../../support/servers/database.ts"
import { testLayers } from "../../support/servers/layers.ts"
import { serveOnLoopback } from "../../support/servers/loopback.ts"
import { findClosedPort } from "../../support/servers/proxy.ts"
import { type Service, startService } from "../../support/servers/service.ts"

const program = findBrowser()

if (program === undefined) console.warn(`No popup is opened here: ${withoutBrowser}`)

interface Heard {
  readonly origin: string
  readonly data: PageData["message"]
}

/** The application: it opens the popup and writes down what it hears. What runs in it is text, as elsewhere. */
const application = `<!doctype html><title>app</title><button>Connect</button><script>
  window.heard = []
  addEventListener("message", ({ data, origin }) => heard.push({ data, origin }))
  document.querySelector("button").onclick = () => window.open(window.address, "popup", "width=500,height=600")
</script>`

const page = readFileSync(new URL("../../../README.md", import.meta.url), "utf8")
  .split("### Authorizing in a popup\n")[1]
  ?.split("```js\n")[1]
  ?.split("```")[0]

describe.skipIf(program === undefined)(
  program === undefined ? `a popup, left out since ${withoutBrowser}` : "the popup of an authorization",
  { timeout: 60_000 },
  () => {
    let browser: Browser
    let context: BrowserContext
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
      // Its own sandbox cannot be set up by root, which is who runs the tests in a container.
      browser = await chromium.launch({ executablePath: program ?? "", args: ["--no-sandbox"] })
    })
    beforeEach(async () => {
      context = await browser.newContext()
    })
    afterEach(() => context.close())
    afterAll(async () => {
      await browser?.close()
      await pool?.end()
      await service?.stop()
      for (const server of [consent, trusted, untrusted]) await server?.stop()
    })

    const begun = async () => {
      const ours = integrationClient(service, tenant)
      const { id } = await ours.made(minimalDrive)
      const { body, status, text } = await ours.call("POST", `/${id}/authorize`, { origin: trusted.url })
      assert.strictEqual(status, 200, text)
      return { id, address: String(body.data.authorizationUrl) }
    }
    const shown = async (id: string) => (await integrationClient(service, tenant).get(id)).body.data

    /** The popup that the application opens, for the address it was given. */
    const opened = async (app: Page, address: string) => {
      await app.evaluate(`window.address = ${JSON.stringify(address)}`)
      const popup = context.waitForEvent("page")
      await app.click("button")
      return popup
    }
    const applicationAt = async (url: string) => {
      const app = await context.newPage()
      await app.goto(url)
      return app
    }
    const logIn = async (popup: Page) => {
      await popup.fill("input[name=login]", "ines")
      await popup.fill("input[name=password]", "anything")
      await popup.click("button[type=submit]")
      await popup.waitForSelector("text=Authorize")
    }
    const heardBy = (app: Page) => app.evaluate<ReadonlyArray<Heard>>("window.heard")
    const ended = async (popup: Page) => {
      await popup.waitForURL("**/api/v1/integrations/oauth/callback")
      return popup
    }

    it("goes through login and consent, tells the application, closes, and is confirmed", async () => {
      const { address, id } = await begun()
      const app = await applicationAt(trusted.url)
      const popup = await opened(app, address)
      await logIn(popup)
      const closed = popup.waitForEvent("close")
      await popup.click("button[type=submit]")
      await closed
      const heard = await heardBy(app)
      assert.lengthOf(heard, 1)
      const { data, origin } = heard[0] ?? assert.fail()
      assert.strictEqual(origin, service.url)
      const { confirmation = "", ...rest } = data ?? assert.fail()
      assert.deepStrictEqual(rest, {
        type: "integration.oauth",
        v: 1,
        status: "success",
        integrationId: id,
        provider: "GOOGLE_DRIVE"
      })
      assert.isFalse((await shown(id)).isAuthorized)
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
      assert.deepInclude(await shown(id), { isAuthorized: true, status: "ACTIVE" })
    })

    it("is opened, listened to and confirmed by a page as the README has it", async () => {
      const { id } = await integrationClient(service, tenant).made(minimalDrive)
      const app = await applicationAt(trusted.url)
      const known = { api: service.url, token: await service.token("owner"), tenant }
      await app.evaluate(`Object.assign(window, ${JSON.stringify(known)})`)
      await app.addScriptTag({ content: page ?? assert.fail("no page in the README") })
      await app.evaluate(`document.querySelector("button").onclick = () => { window.authorizing = authorize("${id}") }`)
      const opening = context.waitForEvent("page")
      await app.click("button")
      const popup = await opening
      await logIn(popup)
      await popup.click("button[type=submit]")
      const authorized = await app.evaluate<IntegrationBody>("new Promise((resolve) => resolve(window.authorizing))")
      assert.deepInclude(authorized, { id, isAuthorized: true, status: "ACTIVE" })
      assert.deepStrictEqual(await shown(id), authorized)
    })

    it("tells that it was declined, and stays to say so", async () => {
      const { address, id } = await begun()
      const app = await applicationAt(trusted.url)
      const popup = await opened(app, address)
      await logIn(popup)
      await popup.click("a[href$='/abort']")
      await ended(popup)
      await popup.waitForSelector("text=declined")
      assert.notInclude(popup.url(), "?", "what came with the address is gone from it")
      const heard = await heardBy(app)
      assert.deepStrictEqual(heard, [
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
      await popup.waitForTimeout(500)
      assert.isFalse(popup.isClosed())
      assert.isFalse((await shown(id)).isAuthorized)
    })

    const round = () =>
      Effect.runPromise(
        Effect.provide(
          runCleanupRound,
          Layer.provideMerge(
            JanitorDependencies.pipe(Layer.provide(PostgresBlobs)),
            testLayers(service.database.url, { DATA_DIR: service.dataDir, ...environment })
          )
        )
      )
    const waiting = async (id: string) => {
      const { rows } = await pool.query("select 1 from pending_grants where integration_id = $1", [id])
      return rows.length
    }

    it("gains nothing from somebody who was sent the link, and the janitor discards it", async () => {
      const { address, id } = await begun()
      const victim = await context.newPage()
      await victim.goto(address)
      await logIn(victim)
      await victim.click("button[type=submit]")
      await ended(victim)
      await victim.waitForSelector("text=nothing was authorized")
      assert.isFalse(await victim.isVisible("text=Thank you"))
      assert.strictEqual(await waiting(id), 1)
      await pool.query("update pending_grants set expires_at = now() where integration_id = $1", [id])
      await round()
      assert.strictEqual(await waiting(id), 0)
      assert.deepInclude(await shown(id), { isAuthorized: false, status: "PENDING_AUTH" })
    })

    it("tells nothing to an application of another origin", async () => {
      const { address, id } = await begun()
      const app = await applicationAt(untrusted.url)
      const popup = await opened(app, address)
      await logIn(popup)
      const closed = popup.waitForEvent("close")
      await popup.click("button[type=submit]")
      await closed
      await app.waitForTimeout(300)
      assert.deepStrictEqual(await heardBy(app), [])
      assert.strictEqual(await waiting(id), 1)
      assert.isFalse((await shown(id)).isAuthorized)
    })
  }
)

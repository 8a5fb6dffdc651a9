import type { RequestListener } from "node:http"
import { exportJWK, generateKeyPair } from "jose"
import type { Page } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type RunningConsole, startConsole } from "../support/servers/console.ts"
import { withoutConsoleOutput } from "../support/servers/identityProvider.ts"
import { serveOnLoopback } from "../support/servers/loopback.ts"
import { findClosedPort } from "../support/servers/proxy.ts"
import { startService } from "../support/servers/service.ts"
import { isSkipped, sharedBrowser, titleOf } from "../support/servers/sharedBrowser.ts"

/** Everything that the page has stored. */
const storedIn = (page: Page) =>
  page.evaluate<string>("JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])")

describe.skipIf(isSkipped)(titleOf("Signing in to the console"), { timeout: 60_000 }, () => {
  let console: RunningConsole
  beforeAll(async () => {
    console = await startConsole()
  })
  afterAll(() => console?.stop())

  it("by a link shows the tenant, and leaves the code in no address and no storage", async () => {
    const page = await console.open("")
    await page.waitForSelector("text=Latest drafts")
    assert.strictEqual(page.url(), `${console.service.url}/console/${console.tenant}`)
    assert.strictEqual(await storedIn(page), '[{},{},""]')
    await page.goBack()
    assert.notInclude(page.url(), "code=")
  })

  it("by a link a second time is refused, and says what to do", async () => {
    const link = await console.linkFor("owner")
    const page = await (await console.browser.newContext()).newPage()
    await page.goto(link)
    await page.waitForSelector("text=Latest drafts")
    const other = await (await console.browser.newContext()).newPage()
    await other.goto(link)
    await other.waitForSelector("text=This link was used already")
    assert.include(await other.textContent("main"), "npm run -s console")
    await page.reload()
    await page.waitForSelector("text=npm run -s console")
    await page.goto(await console.linkFor("owner"))
    await page.waitForSelector("text=Latest drafts")
    await page.context().close()
    await other.context().close()
  })

  it("as somebody without a tenant offers to create one", async () => {
    const page = await (await console.browser.newContext()).newPage()
    await page.goto(await console.linkFor("newcomer"))
    await page.fill("input[name=name]", "Lighthouse")
    await page.click("text=Create")
    await page.waitForSelector("h1:has-text('Lighthouse')")
    await page.context().close()
  })
})

const configurationFor = async (redirectUri: string) => {
  const { privateKey } = await generateKeyPair("ES256", { extractable: true })
  return {
    jwks: { keys: [{ ...(await exportJWK(privateKey)), kid: "key", alg: "ES256", use: "sig" }] },
    clients: [
      {
        client_id: "console",
        token_endpoint_auth_method: "none",
        grant_types: ["authorization_code"],
        response_types: ["code"],
        redirect_uris: [redirectUri],
        id_token_signed_response_alg: "ES256"
      }
    ],
    cookies: { keys: ["only-a-test"] },
    ttl: { AccessToken: 3600, Grant: 3600, IdToken: 3600, Interaction: 3600, Session: 3600 },
    clientBasedCORS: () => true,
    findAccount: (_: unknown, accountId: string) => ({ accountId, claims: () => ({ sub: accountId }) }),
    features: {
      devInteractions: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_: unknown, resource: string) => ({
          scope: "api",
          audience: resource,
          accessTokenFormat: "jwt",
          jwt: { sign: { alg: "ES256" } }
        })
      }
    }
  }
}

describe.skipIf(isSkipped)(titleOf("Signing in to the console at an identity provider"), { timeout: 60_000 }, () => {
  it("asks once, returns to the address, and asks silently after a reload", async () => {
    const port = await findClosedPort()
    let handle: RequestListener = (_, response) => response.writeHead(503).end()
    const provider = await serveOnLoopback((request, response) => handle(request, response))
    const service = await startService({
      PORT: String(port),
      AUTH_ISSUER: provider.url,
      AUTH_AUDIENCE: "https://contracting.example",
      CONSOLE_OIDC_CLIENT_ID: "console"
    })
    const context = await (await sharedBrowser()).newContext()
    try {
      await withoutConsoleOutput(async () => {
        const { Provider } = await import("oidc-provider")
        handle = new Provider(provider.url, await configurationFor(`${service.url}/console/callback`)).callback()
      })
      const page = await context.newPage()
      await page.goto(`${service.url}/console`)
      await page.click("button:has-text('Sign in')")
      await page.fill("input[name=login]", "ines")
      await page.fill("input[name=password]", "anything")
      await page.click("button[type=submit]")
      await page.click("button[type=submit]:has-text('Continue')")
      await page.waitForSelector("text=Welcome")
      assert.strictEqual(page.url(), `${service.url}/console`)
      assert.strictEqual(await storedIn(page), '[{},{},""]')
      await page.reload()
      await page.waitForSelector("text=Welcome")
    } finally {
      await context.close()
      await service.stop()
      await provider.stop()
    }
  })
})

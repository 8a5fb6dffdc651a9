import type { Page } from "playwright-core"
import { type ResourceKind, resourceMaker } from "../fixtures/resources.ts"
import { failureDescribers } from "./failureDescribers.ts"
import { startServiceWithPool } from "./serviceWithPool.ts"
import { closeContexts, sharedBrowser } from "./sharedBrowser.ts"

/** The service with a tenant, and a browser that can sign in to its console. */
export const startConsole = async (environment: Readonly<Record<string, string>> = {}) => {
  const { pool, service, stop: stopService } = await startServiceWithPool(environment)
  const browser = await sharedBrowser()
  const tenant = await service.newTenant()
  const { make } = resourceMaker(service, tenant)

  /** A link that signs a subject in once. */
  const linkFor = async (subject: string, path = "") => {
    const { text } = await service.call("POST", "/console/sign-in-code", {
      headers: { authorization: `Bearer ${await service.token(subject)}` }
    })
    return `${service.url}/console${path}#code=${text}`
  }

  const newPage = async (viewport: { width: number; height: number }) => {
    const made = await (await browser.newContext({ viewport, locale: "en-GB" })).newPage()
    // Chromium hands over a request that follows the first route at once only if the page was loaded with a route:
    // otherwise some pass, and Playwright does not even report them.
    await made.route("**/no-such-request", (route) => route.fallback())
    return made
  }

  let page: Page | undefined

  /** The page of this console, loaded anew and signed in at a screen of the tenant. */
  const open = async (path: string, { as = "owner", viewport = { width: 1280, height: 860 } } = {}) => {
    // A context of its own costs a second of CPU, and a load ends the session, which only the memory of the page keeps.
    page ??= await newPage(viewport)
    await page.setViewportSize(viewport)
    // An address that differs only in its fragment would not load.
    await page.goto("about:blank")
    await page.goto(await linkFor(as, `/${tenant}${path}`))
    return page
  }

  const describePage = async () => {
    const text = await page?.innerText("body", { timeout: 5000 }).catch(String)
    return text === undefined ? "" : `The page ${page?.url()} shows:\n${text}`
  }
  failureDescribers.add(describePage)

  const stop = async () => {
    failureDescribers.delete(describePage)
    await closeContexts()
    await stopService()
  }
  return {
    service,
    pool,
    browser,
    tenant,
    linkFor,
    open,
    make: (kind: ResourceKind, fields?: object) => make(kind, fields),
    stop
  }
}

export type RunningConsole = Awaited<ReturnType<typeof startConsole>>

/** Goes to another screen as a click on a link does, without a reload, which would end the session. */
export const goTo = (page: Page, address: string) =>
  page.evaluate(`history.pushState(null, "", ${JSON.stringify(address)}); dispatchEvent(new PopStateEvent("popstate"))`)

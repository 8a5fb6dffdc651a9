import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core"
import { findBrowser, withoutBrowser } from "../../../scripts/browser.mjs"
import { type ResourceKind, resourceMaker } from "../fixtures/resources.ts"
import { startServiceWithPool } from "./serviceWithPool.ts"

const program = findBrowser()

if (program === undefined) console.warn(`The tests of the console are skipped: ${withoutBrowser}`)

/** Whether the tests of the console cannot run, and why. */
export const isSkipped = program === undefined
export const titleOf = (title: string) => (isSkipped ? `${title} (skipped: ${withoutBrowser})` : title)

/** Chromium cannot set up its sandbox as root, the user of many containers. */
export const launchBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: program ?? "", args: ["--no-sandbox"] })

/** The service with a tenant, and a browser that can sign in to its console. */
export const startConsole = async (environment: Readonly<Record<string, string>> = {}) => {
  const { pool, service, stop: stopService } = await startServiceWithPool(environment)
  const browser = await launchBrowser()
  const tenant = await service.newTenant()
  const { make } = resourceMaker(service, tenant)

  /** A link that signs a subject in once. */
  const linkFor = async (subject: string, path = "") => {
    const { text } = await service.call("POST", "/console/sign-in-code", {
      headers: { authorization: `Bearer ${await service.token(subject)}` }
    })
    return `${service.url}/console${path}#code=${text}`
  }

  /** A new page, signed in at a screen of the tenant. */
  const open = async (
    path: string,
    { as = "owner", ...options }: BrowserContextOptions & { readonly as?: string } = {}
  ) => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, locale: "en-GB", ...options })
    const page = await context.newPage()
    await page.goto(await linkFor(as, `/${tenant}${path}`))
    return page
  }

  const stop = async () => {
    await browser.close()
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

import type { Page } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { runAxe } from "../support/assertions/axe.ts"
import { describeScreen, makeConsoleScreens, type Screen, visitScreen } from "../support/fixtures/consoleScreens.ts"
import { jiraSettings } from "../support/fixtures/jiraWebhooks.ts"
import { type RunningConsole, startConsole } from "../support/servers/console.ts"
import { isSkipped, titleOf } from "../support/servers/sharedBrowser.ts"

const findProblems = async (page: Page, rules: Parameters<typeof runAxe>[2] = {}) => {
  const hidden = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth")
  // Axe accepts a table whose rows have no names.
  const nameless = await page.locator("tbody tr:not(:has(th[scope=row]))").count()
  return [
    ...(await runAxe(page, ["violations"], rules)),
    ...(hidden > 0 ? [`${hidden} pixels too wide`] : []),
    ...(nameless > 0 ? [`${nameless} rows of a table without a name`] : [])
  ]
}

const wide = { width: 1280, height: 800 }
const narrow = { width: 360, height: 740 }

/**
 * Looks at the page in light and in dark colours, and in dark colours on a narrow window. The colours of a scheme change
 * nothing but the contrast, so the second scheme needs only its rule.
 */
const findProblemsInEveryWindow = async (page: Page) => {
  const light = await findProblems(page)
  await page.emulateMedia({ colorScheme: "dark" })
  const dark = await findProblems(page, { runOnly: ["color-contrast"] })
  await page.setViewportSize(narrow)
  const small = await findProblems(page)
  await page.setViewportSize(wide)
  await page.emulateMedia({ colorScheme: "light" })
  return [
    ...light,
    ...dark.map((problem) => `dark, ${problem}`),
    ...small.map((problem) => `dark and ${narrow.width} pixels wide, ${problem}`)
  ]
}

describe.skipIf(isSkipped)(titleOf("The console"), { timeout: 120_000 }, () => {
  let console: RunningConsole
  let screens: ReadonlyArray<Screen>
  beforeAll(async () => {
    console = await startConsole(jiraSettings)
    screens = await makeConsoleScreens(console)
  })
  afterAll(() => console?.stop())

  it("has no violation of axe on any screen, and nothing to scroll sideways", async () => {
    const page = await console.open("", { viewport: wide })
    await page.waitForSelector(".tiles")
    const found: Array<string> = []
    for (const screen of screens)
      await visitScreen(page, console.tenant, screen, async () => {
        const problems = await findProblemsInEveryWindow(page)
        found.push(...problems.map((problem) => `${describeScreen(screen)}: ${problem}`))
      })
    assert.deepStrictEqual(found, [])
  })
})

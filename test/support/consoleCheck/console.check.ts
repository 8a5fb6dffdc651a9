import { stop as stopCompiler } from "esbuild"
import type { Page } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Column, formatTable } from "../../../bench/markdownTable.ts"
import { bundleConsole } from "../../../scripts/consoleBundle.mjs"
import { jiraSettings } from "../fixtures/jiraWebhooks.ts"
import { goTo, type RunningConsole, startConsole } from "../servers/console.ts"
import { isSkipped, titleOf } from "../servers/sharedBrowser.ts"
import { type Frames, maxTaskMs, recordFrames, scrollByWheel } from "./frames.ts"
import { longLists } from "./longLists.ts"
import { compareTotals } from "./randomDrafts.ts"
import { takeScreenshots } from "./screenshots.ts"
import { maxScriptBytes, measureScripts } from "./scriptSizes.ts"

/** What the command asks for: see scripts/checkConsole.mjs. */
const seconds = Number(process.env["CHECK_SECONDS"] ?? 5)
const draftCount = Number(process.env["CHECK_DRAFTS"] ?? 0)
const screenshotFolder = process.env["CHECK_SCREENSHOTS"]
const isMeasured = draftCount === 0 && screenshotFolder === undefined

const say = (text: string) => process.stdout.write(`${text}\n`)

interface Measured extends Frames {
  readonly name: string
}

const milliseconds = (value: number) => `${value.toFixed(0)} ms`

const columns: ReadonlyArray<Column<Measured>> = [
  { title: "what", cell: ({ name }) => name, isText: true },
  { title: "frames", cell: ({ count }) => String(count) },
  { title: "above 1/30 s", cell: ({ slowShare }) => `${(slowShare * 100).toFixed(1)} %` },
  { title: "worst frame", cell: ({ worstMs }) => milliseconds(worstMs) },
  {
    title: "longest task",
    cell: ({ longestTaskMs }) => (longestTaskMs === 0 ? "< 50 ms" : milliseconds(longestTaskMs))
  },
  { title: "its CPU time at most", cell: ({ mostCpuMs }) => milliseconds(mostCpuMs) }
]

describe.skipIf(isSkipped)(titleOf("The console under load"), () => {
  let console: RunningConsole
  let page: Page
  beforeAll(async () => {
    console = await startConsole(jiraSettings)
    page = await console.open("")
    await page.waitForSelector(".tiles")
  })
  afterAll(async () => {
    await console?.stop()
    await stopCompiler()
  })

  const show = async (path: string, row: string) => {
    await goTo(page, `/console/${console.tenant}${path}`)
    await page.waitForSelector(row)
  }

  it.runIf(isMeasured)("scrolls long lists and types into a long draft without a long task", async () => {
    const measured: Array<Measured> = []
    const measure = async (name: string, work: () => Promise<unknown>) => {
      say(`… ${name}`)
      measured.push({ name, ...(await recordFrames(console.browser, page, work)) })
    }
    for (const { make, name, row } of longLists) {
      const path = await make(console)
      await measure(`open ${name}`, () => show(path, row))
      await measure(`scroll ${name}`, () => scrollByWheel(page, seconds))
      if (await page.isVisible("[aria-label^='Name, line']"))
        await measure(`type into ${name}`, async () => {
          await page.click("[aria-label^='Name, line'] >> nth=10")
          await page.keyboard.type("Inspection of the pumps at the harbour")
        })
    }
    say(`\n${formatTable(columns, measured)}\n`)
    const slow = measured.filter(({ longestTaskMs }) => longestTaskMs > maxTaskMs)
    assert.deepStrictEqual(
      slow.map(({ longestTaskMs, name }) => `${name}: ${milliseconds(longestTaskMs)}`),
      []
    )
  })

  it.runIf(isMeasured)("loads little script", async () => {
    const sizes = measureScripts(await bundleConsole())
    say(`Script, compressed: ${sizes.all} bytes in all, ${sizes.firstPaint} before the first paint`)
    assert.isAtMost(sizes.all, maxScriptBytes.all)
    assert.isAtMost(sizes.firstPaint, maxScriptBytes.firstPaint)
  })

  it.runIf(draftCount > 0)("shows the totals that the service computes", async () => {
    await compareTotals(page, console, draftCount, (compared) => {
      if (compared % 50 === 0 || compared === draftCount) say(`  ${compared} of ${draftCount} drafts are equal`)
    })
  })

  it.runIf(screenshotFolder !== undefined)("looks as it should", async () => {
    const count = await takeScreenshots(console, screenshotFolder ?? "")
    say(`${count} screenshots in ${screenshotFolder}`)
  })
})

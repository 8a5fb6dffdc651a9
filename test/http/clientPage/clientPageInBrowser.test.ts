import axe from "axe-core"
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { findBrowser, withoutBrowser } from "../../../scripts/browser.mjs"
import { languages } from "../../../src/domain/Language.ts"
import { makeOverdue, makePageFixture, startPageService } from "../../support/fixtures/clientPages.ts"
import { png } from "../../support/fixtures/images.ts"

const program = findBrowser()

if (program === undefined) console.warn(`Browser tests are skipped: ${withoutBrowser}`)

const narrow = { width: 360, height: 740 }
const wide = { width: 1200, height: 900 }

/** Texts without a space, as long as they can be. */
const longWord = (length: number) => "Wasserstandsregelung".repeat(20).slice(0, length)

// Scripts for the page are text because this project has no DOM types.
const hasHorizontalScroll = "document.documentElement.scrollWidth > document.documentElement.clientWidth"

describe.skipIf(program === undefined)(
  program === undefined ? `The page in a browser, skipped because ${withoutBrowser}` : "The page in a browser",
  { timeout: 120_000 },
  () => {
    let browser: Browser
    let started: Awaited<ReturnType<typeof startPageService>>
    /** The path of a page with every part, by language. */
    const paths = new Map<string, string>()
    beforeAll(async () => {
      started = await startPageService()
      for (const language of languages) {
        const page = await makePageFixture(started.service, language)
        await page.addLogo(png({ width: 600, height: 200 }))
        const { id } = await page.issue({ notes: longWord(300) }, [
          { name: longWord(255), description: longWord(400), quantity: 12_345.678, amountMinor: 987_654 },
          { name: "Travel", amountMinor: 12_000, discount: { percent: 10 }, discountReason: longWord(80) }
        ])
        const [line] = await page.lines(id)
        await page.pay(id, 1000)
        await page.credit(id, { lines: [{ billableId: line?.id, amountMinor: 1000 }] })
        if (language === "de") await makeOverdue(started.pool, id)
        paths.set(language, await page.pathTo(id))
      }
      // Chromium cannot set up its sandbox as root, the user in a container.
      browser = await chromium.launch({ executablePath: program ?? "", args: ["--no-sandbox"] })
    })
    afterAll(async () => {
      await browser?.close()
      await started?.stop()
    })

    const visit = async <A>(path: string, options: BrowserContextOptions, look: (page: Page) => Promise<A>) => {
      const context = await browser.newContext(options)
      try {
        const page = await context.newPage()
        const problems: Array<string> = []
        page.on("console", (message) => problems.push(message.text()))
        page.on("requestfailed", (request) => problems.push(request.url()))
        await page.goto(started.service.url + path)
        const result = await look(page)
        assert.deepStrictEqual(problems, [], "the policy of the page blocks nothing of it")
        return result
      } finally {
        await context.close()
      }
    }

    it.each(languages)("has no horizontal scroll on a screen of 360 pixels in %s", async (language) => {
      await visit(paths.get(language) ?? "", { viewport: narrow }, async (page) => {
        assert.isFalse(await page.evaluate(hasHorizontalScroll))
        assert.isFalse(await page.getByRole("columnheader", { name: /Quantity|Menge|Quantité/ }).isVisible())
      })
    })

    it("is complete without scripts", async () => {
      await visit(paths.get("en") ?? "", { viewport: narrow, javaScriptEnabled: false }, async (page) => {
        for (const part of [
          page.getByRole("heading", { level: 1, name: /^Invoice INV-/ }),
          page.getByText("Partially paid", { exact: true }),
          page.getByRole("link", { name: "Download PDF" }),
          page.getByRole("img", { name: /^QR code for a transfer of/ }),
          page.getByRole("img", { name: "Harbour Works GmbH" }),
          page.getByRole("rowheader", { name: /^Travel/ })
        ])
          assert.isTrue(await part.isVisible())
        const response = await page.request.get(`${page.url()}/pdf`)
        assert.strictEqual(response.headers()["content-type"], "application/pdf")
      })
    })

    it("runs no script, whoever adds it", async () => {
      const context = await browser.newContext()
      const page = await context.newPage()
      await page.goto(started.service.url + (paths.get("en") ?? ""))
      const tryScript = `(() => {
        const script = document.createElement("script")
        script.textContent = "document.body.dataset.ran = 'yes'"
        document.body.append(script)
        return document.body.dataset.ran ?? "no"
      })()`
      assert.strictEqual(await page.evaluate(tryScript), "no")
      await context.close()
    })

    const cases = languages.flatMap((language) =>
      (["light", "dark"] as const).flatMap((scheme) =>
        [narrow, wide].map((viewport) => [language, scheme, viewport.width, viewport] as const)
      )
    )

    it.each(cases)(
      "has no violation that axe finds in %s, %s, %d pixels wide",
      async (language, colorScheme, _, viewport) => {
        await visit(paths.get(language) ?? "", { viewport, colorScheme }, async (page) => {
          await page.evaluate(axe.source)
          const { incomplete, violations } = await page.evaluate<axe.AxeResults>("axe.run()")
          const problems = [...violations, ...incomplete]
          assert.deepStrictEqual(
            problems.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`),
            []
          )
        })
      }
    )

    it.each(["light", "dark"] as const)("has no violation that axe finds in any status, %s", async (colorScheme) => {
      const { call, issue, pathTo, transition } = await makePageFixture(started.service)
      const [open, paid, voided, settled] = [await issue(), await issue(), await issue(), await issue()]
      await transition(paid.id, "pay")
      await transition(voided.id, "void")
      await call("POST", `/invoices/${settled.id}/write-off`, { reason: "Goodwill" })
      for (const { id } of [open, paid, voided, settled])
        await visit(await pathTo(id), { viewport: narrow, colorScheme }, async (page) => {
          await page.evaluate(axe.source)
          const { violations } = await page.evaluate<axe.AxeResults>("axe.run()")
          assert.deepStrictEqual(
            violations.map(({ id }) => id),
            []
          )
        })
    })

    it.each(["light", "dark"] as const)(
      "of an unknown link has no violation that axe finds, %s",
      async (colorScheme) => {
        const context = await browser.newContext({ colorScheme })
        const page = await context.newPage()
        await page.goto(`${started.service.url}/i/unknown`)
        await page.evaluate(axe.source)
        const { violations } = await page.evaluate<axe.AxeResults>("axe.run()")
        assert.deepStrictEqual(
          violations.map(({ id }) => id),
          []
        )
        await context.close()
      }
    )
  }
)

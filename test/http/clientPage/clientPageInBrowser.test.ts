import type { ConsoleMessage, Page, Request } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { languages } from "../../../src/domain/locale/Language.ts"
import { runAxe } from "../../support/assertions/axe.ts"
import { makeOverdue, makePageFixture, startPageService } from "../../support/fixtures/clientPages.ts"
import { png } from "../../support/fixtures/images.ts"
import { closeContexts, isSkipped, sharedBrowser, titleOf } from "../../support/servers/sharedBrowser.ts"

const narrow = { width: 360, height: 740 }
const wide = { width: 1200, height: 900 }

/** Texts without a space, as long as they can be. */
const longWord = (length: number) => "Wasserstandsregelung".repeat(20).slice(0, length)

// Scripts for the page are text because this project has no DOM types.
const hasHorizontalScroll = "document.documentElement.scrollWidth > document.documentElement.clientWidth"

describe.skipIf(isSkipped)(titleOf("The page in a browser"), { timeout: 120_000 }, () => {
  /** One for all tests, because a page costs a second of CPU. */
  let page: Page
  let started: Awaited<ReturnType<typeof startPageService>>
  /** The path of a page with every part, by language. */
  const paths = new Map<string, string>()
  beforeAll(async () => {
    started = await startPageService()
    for (const language of languages) {
      const fixture = await makePageFixture(started.service, language)
      await fixture.addLogo(png({ width: 600, height: 200 }))
      const { id } = await fixture.issue({ notes: longWord(300) }, [
        { name: longWord(255), description: longWord(400), quantity: 12_345.678, amountMinor: 987_654 },
        { name: "Travel", amountMinor: 12_000, discount: { percent: 10 }, discountReason: longWord(80) }
      ])
      const [line] = await fixture.lines(id)
      await fixture.pay(id, 1000)
      await fixture.credit(id, { lines: [{ billableId: line?.id, amountMinor: 1000 }] })
      if (language === "de") await makeOverdue(started.pool, id)
      paths.set(language, await fixture.pathTo(id))
    }
    page = await (await sharedBrowser()).newPage({ viewport: narrow })
  })
  afterAll(async () => {
    await closeContexts()
    await started?.stop()
  })

  const visit = async (page: Page, path: string, look: () => Promise<void>) => {
    const problems: Array<string> = []
    const onConsole = (message: ConsoleMessage) => problems.push(message.text())
    const onFailed = (request: Request) => problems.push(request.url())
    page.on("console", onConsole).on("requestfailed", onFailed)
    await page.goto(started.service.url + path)
    await look()
    page.off("console", onConsole).off("requestfailed", onFailed)
    assert.deepStrictEqual(problems, [], "the policy of the page blocks nothing of it")
  }

  it("is complete without scripts", async () => {
    const page = await (await sharedBrowser()).newPage({ viewport: narrow, javaScriptEnabled: false })
    await visit(page, paths.get("en") ?? "", async () => {
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
    await page.goto(started.service.url + (paths.get("en") ?? ""))
    const tryScript = `(() => {
      const script = document.createElement("script")
      script.textContent = "document.body.dataset.ran = 'yes'"
      document.body.append(script)
      return document.body.dataset.ran ?? "no"
    })()`
    assert.strictEqual(await page.evaluate(tryScript), "no")
  })

  const schemes = ["light", "dark"] as const

  /** Restyles a page that is loaded. It runs no script, so it looks as if it were loaded that way. */
  const restyle = async (viewport: typeof narrow, colorScheme: (typeof schemes)[number]) => {
    await page.setViewportSize(viewport)
    await page.emulateMedia({ colorScheme })
    assert.isTrue(await page.evaluate(`matchMedia("(prefers-color-scheme: ${colorScheme})").matches`))
  }

  it.each(languages)(
    "has no horizontal scroll on 360 pixels and no violation that axe finds in any window, in %s",
    async (language) => {
      await page.setViewportSize(narrow)
      await visit(page, paths.get(language) ?? "", async () => {
        assert.isFalse(await page.evaluate(hasHorizontalScroll))
        assert.isFalse(await page.getByRole("columnheader", { name: /Quantity|Menge|Quantité/ }).isVisible())
        for (const viewport of [narrow, wide])
          for (const scheme of schemes) {
            await restyle(viewport, scheme)
            const found = await runAxe(page, ["violations", "incomplete"])
            assert.deepStrictEqual(found, [], `${scheme}, ${viewport.width} pixels wide`)
          }
      })
    }
  )

  it("has no violation that axe finds in any status, light and dark", async () => {
    const { call, issue, pathTo, transition } = await makePageFixture(started.service)
    const [open, paid, voided, settled] = [await issue(), await issue(), await issue(), await issue()]
    await transition(paid.id, "pay")
    await transition(voided.id, "void")
    await call("POST", `/invoices/${settled.id}/write-off`, { reason: "Goodwill" })
    for (const { id } of [open, paid, voided, settled])
      await visit(page, await pathTo(id), async () => {
        for (const scheme of schemes) {
          await restyle(narrow, scheme)
          assert.deepStrictEqual(await runAxe(page, ["violations"]), [], scheme)
        }
      })
  })

  it("of an unknown link has no violation that axe finds, light and dark", async () => {
    await page.goto(`${started.service.url}/i/unknown`)
    for (const scheme of schemes) {
      await restyle(wide, scheme)
      assert.deepStrictEqual(await runAxe(page, ["violations"]), [], scheme)
    }
  })
})

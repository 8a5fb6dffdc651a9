import { type Browser, chromium, type Page } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { findBrowser, withoutBrowser } from "../../../scripts/browser.mjs"
import { type AssetClient, assetClient } from "../../support/fixtures/assets.ts"
import { htmlWithScript, png, svgWithScript } from "../../support/fixtures/images.ts"
import { serveOnLoopback } from "../../support/servers/loopback.ts"
import { type Service, startService } from "../../support/servers/service.ts"

const program = findBrowser()

if (program === undefined) console.warn(`Images are not shown in a browser here: ${withoutBrowser}`)

/** Types a browser can encode a picture in by itself. */
const encodings = ["image/png", "image/jpeg", "image/webp"]

type Size = readonly [width: number, height: number]

// What runs in the page is text: the types of a browser's own world are not among those known here.

/** Loads an image into the page and tells how large the browser finds it, or that it finds none. */
const load = (page: Page, src: string) =>
  page.evaluate<Size | "no image">(`new Promise((resolve) => {
    const image = new Image()
    image.onload = () => resolve([image.naturalWidth, image.naturalHeight])
    image.onerror = () => resolve("no image")
    image.src = ${JSON.stringify(src)}
    document.body.append(image)
  })`)

/** A picture of this size as the browser encodes it. */
const encode = async (page: Page, type: string, [width, height]: Size) => {
  const url = await page.evaluate<string>(`(() => {
    const canvas = Object.assign(document.createElement("canvas"), { width: ${width}, height: ${height} })
    canvas.getContext("2d").fillRect(0, 0, ${width}, ${height / 2})
    return canvas.toDataURL(${JSON.stringify(type)})
  })()`)
  const [head = "", data = ""] = url.split(",", 2)
  assert.strictEqual(head, `data:${type};base64`)
  return Buffer.from(data, "base64")
}

/** Puts a script into the page, which tells by a mark whether it ran. */
const tryScript = `(() => {
  const script = document.createElement("script")
  script.textContent = "document.body.dataset.ran = 'yes'"
  document.body.append(script)
  return document.body.dataset.ran ?? "nothing"
})()`

describe.skipIf(program === undefined)(
  program === undefined ? `an image in a browser, left out since ${withoutBrowser}` : "an image in a browser",
  { timeout: 60_000 },
  () => {
    let browser: Browser
    let page: Page
    let service: Service
    let assets: AssetClient
    let elsewhere: Awaited<ReturnType<typeof serveOnLoopback>>
    beforeAll(async () => {
      service = await startService()
      assets = assetClient(service, await service.newTenant())
      elsewhere = await serveOnLoopback((_, response) => {
        response.setHeader("content-type", "text/html").end("<!doctype html><title>quiet</title><body></body>")
      })
      // Its own sandbox cannot be set up by root, which is who runs the tests in a container.
      browser = await chromium.launch({ executablePath: program ?? "", args: ["--no-sandbox"] })
      page = await browser.newPage()
    })
    afterAll(async () => {
      await browser?.close()
      await elsewhere?.stop()
      await service?.stop()
    })

    it("is rendered in its size on a page of the same origin and of another", async () => {
      const { url } = await assets.ready({}, png({ width: 37, height: 23, bytes: 400_000 }))
      for (const origin of [`${service.url}/healthz`, elsewhere.url]) {
        await page.goto(origin)
        assert.deepStrictEqual(await load(page, service.url + url), [37, 23], origin)
      }
    })

    it.each(encodings)("of type %s is taken as the browser made it, and rendered", async (contentType) => {
      await page.goto(elsewhere.url)
      const { url } = await assets.ready({ contentType }, await encode(page, contentType, [64, 48]))
      assert.deepStrictEqual(await load(page, service.url + url), [64, 48])
    })

    it("that is signed is rendered through its url alone", async () => {
      const { assetId, url } = await assets.ready({ access: "SIGNED" })
      await page.goto(elsewhere.url)
      assert.deepStrictEqual(await load(page, service.url + url), [3, 2])
      assert.strictEqual(await load(page, `${service.url}/api/v1/assets/${assetId}`), "no image")
    })

    it.each([
      ["an SVG", svgWithScript],
      ["a page", htmlWithScript]
    ])("is never %s in disguise", async (_, bytes) => {
      const { assetId } = await assets.uploaded(bytes)
      assert.strictEqual((await assets.complete(assetId)).status, 400)
      await page.goto(elsewhere.url)
      assert.strictEqual(await load(page, `${service.url}/api/v1/assets/${assetId}`), "no image")
    })

    it("opened by itself is shown, and runs nothing", async () => {
      // Right in every check an image passes, with a page in the space that decoders pass over.
      const { url } = await assets.ready({}, png({ width: 5, height: 4, hidden: htmlWithScript }))
      const response = await page.goto(service.url + url)
      assert.strictEqual(response?.headers()["content-type"], "image/png")
      const sizes = `[...document.images].map((image) => [image.naturalWidth, image.naturalHeight])`
      assert.deepStrictEqual(await page.evaluate(sizes), [[5, 4]])
      assert.notStrictEqual(await page.title(), "ran")
      assert.strictEqual(await page.locator("script").count(), 0)
      // Not even a script that somebody gets into the document.
      assert.strictEqual(await page.evaluate(tryScript), "nothing")
      assert.strictEqual(await page.evaluate("self.origin"), "null")
      await page.goto(elsewhere.url)
      assert.strictEqual(await page.evaluate(tryScript), "yes", "elsewhere scripts run")
    })
  }
)

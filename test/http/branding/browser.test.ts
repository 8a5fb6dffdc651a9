import type { Page } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type AssetClient, assetClient } from "../../support/fixtures/assets.ts"
import { htmlWithScript, png, svgWithScript } from "../../support/fixtures/images.ts"
import { serveOnLoopback } from "../../support/servers/loopback.ts"
import { type Service, startService } from "../../support/servers/service.ts"
import { closeContexts, isSkipped, sharedBrowser, titleOf } from "../../support/servers/sharedBrowser.ts"

/** Types that a browser can encode. */
const encodings = ["image/png", "image/jpeg", "image/webp"]

type Size = readonly [width: number, height: number]

// Scripts for the page are text because this project has no DOM types.

/** Loads an image into the page and returns its size. */
const loadImage = (page: Page, src: string) =>
  page.evaluate<Size | "no image">(`new Promise((resolve) => {
    const image = new Image()
    image.onload = () => resolve([image.naturalWidth, image.naturalHeight])
    image.onerror = () => resolve("no image")
    image.src = ${JSON.stringify(src)}
    document.body.append(image)
  })`)

const encodeImage = async (page: Page, type: string, [width, height]: Size) => {
  const url = await page.evaluate<string>(`(() => {
    const canvas = Object.assign(document.createElement("canvas"), { width: ${width}, height: ${height} })
    canvas.getContext("2d").fillRect(0, 0, ${width}, ${height / 2})
    return canvas.toDataURL(${JSON.stringify(type)})
  })()`)
  const [head = "", data = ""] = url.split(",", 2)
  assert.strictEqual(head, `data:${type};base64`)
  return Buffer.from(data, "base64")
}

/** Adds a script to the page and returns whether it ran. */
const tryScript = `(() => {
  const script = document.createElement("script")
  script.textContent = "document.body.dataset.ran = 'yes'"
  document.body.append(script)
  return document.body.dataset.ran ?? "no"
})()`

describe.skipIf(isSkipped)(titleOf("An image in a browser"), { timeout: 60_000 }, () => {
  let page: Page
  let service: Service
  let assets: AssetClient
  let otherOrigin: Awaited<ReturnType<typeof serveOnLoopback>>
  beforeAll(async () => {
    service = await startService()
    assets = assetClient(service, await service.newTenant())
    otherOrigin = await serveOnLoopback((_, response) => {
      response.setHeader("content-type", "text/html").end("<!doctype html><title>empty</title><body></body>")
    })
    page = await (await sharedBrowser()).newPage()
  })
  afterAll(async () => {
    await closeContexts()
    await otherOrigin?.stop()
    await service?.stop()
  })

  it("is rendered on a page of the same and of another origin", async () => {
    const { url } = await assets.createReady({}, png({ width: 37, height: 23, bytes: 400_000 }))
    for (const origin of [`${service.url}/healthz`, otherOrigin.url]) {
      await page.goto(origin)
      assert.deepStrictEqual(await loadImage(page, service.url + url), [37, 23], origin)
    }
  })

  it.each(encodings)("of type %s is accepted as the browser encoded it, and rendered", async (contentType) => {
    await page.goto(otherOrigin.url)
    const { url } = await assets.createReady({ contentType }, await encodeImage(page, contentType, [64, 48]))
    assert.deepStrictEqual(await loadImage(page, service.url + url), [64, 48])
  })

  it("with access SIGNED is rendered only by its signed URL", async () => {
    const { assetId, url } = await assets.createReady({ access: "SIGNED" })
    await page.goto(otherOrigin.url)
    assert.deepStrictEqual(await loadImage(page, service.url + url), [3, 2])
    assert.strictEqual(await loadImage(page, `${service.url}/api/v1/assets/${assetId}`), "no image")
  })

  it.each([
    ["an SVG", svgWithScript],
    ["an HTML page", htmlWithScript]
  ])("is not rendered if it is %s", async (_, bytes) => {
    const { assetId } = await assets.upload(bytes)
    assert.strictEqual((await assets.complete(assetId)).status, 400)
    await page.goto(otherOrigin.url)
    assert.strictEqual(await loadImage(page, `${service.url}/api/v1/assets/${assetId}`), "no image")
  })

  it("opened as a document is rendered and runs no script", async () => {
    // A valid PNG with an HTML page in a chunk that decoders ignore.
    const { url } = await assets.createReady({}, png({ width: 5, height: 4, hidden: htmlWithScript }))
    const response = await page.goto(service.url + url)
    assert.strictEqual(response?.headers()["content-type"], "image/png")
    const sizes = `[...document.images].map((image) => [image.naturalWidth, image.naturalHeight])`
    assert.deepStrictEqual(await page.evaluate(sizes), [[5, 4]])
    assert.notStrictEqual(await page.title(), "ran")
    assert.strictEqual(await page.locator("script").count(), 0)
    // The sandbox also blocks a script that is added to the document.
    assert.strictEqual(await page.evaluate(tryScript), "no")
    assert.strictEqual(await page.evaluate("self.origin"), "null")
    await page.goto(otherOrigin.url)
    assert.strictEqual(await page.evaluate(tryScript), "yes", "scripts run on another origin")
  })
})

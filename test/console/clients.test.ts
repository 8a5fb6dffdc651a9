import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type RunningConsole, startConsole } from "../support/servers/console.ts"
import { isSkipped, titleOf } from "../support/servers/sharedBrowser.ts"

const markup = `<img src=x onerror="document.title='ran'"><b>Bold</b>`

describe.skipIf(isSkipped)(titleOf("Clients in the console"), { timeout: 60_000 }, () => {
  let console: RunningConsole
  beforeAll(async () => {
    console = await startConsole()
  })
  afterAll(() => console?.stop())

  const listNames = async (path: string) => {
    const { body } = await console.service.api("GET", path, { as: "owner", tenant: console.tenant })
    return body.data.map(({ name }: { readonly name: string }) => name)
  }

  it("show what the service rejects at its field, which gets the focus", async () => {
    const page = await console.open("/clients")
    await page.click("main .page-head button:has-text('New client')")
    await page.click("dialog button:has-text('Create client')")
    await page.waitForSelector("input[name=name][aria-invalid=true]:focus")
    const describedBy = await page.getAttribute("input[name=name]", "aria-describedby")
    const error = describedBy?.split(" ").at(-1) ?? ""
    assert.match((await page.textContent(`[id='${error}']`)) ?? "", /character/)
  })

  it("are created once by a double click, and their names are shown as text", async () => {
    const page = await console.open("/clients")
    await page.click("main .page-head button:has-text('New client')")
    await page.fill("input[name=name]", markup)
    await page.dblclick("dialog button:has-text('Create client')")
    await page.waitForSelector("h1:has-text('<img')")
    assert.strictEqual(await page.textContent("main h1"), markup)
    assert.strictEqual(await page.locator("main img, main h1 b").count(), 0)
    assert.deepStrictEqual(await listNames("/clients"), [markup])
    assert.notStrictEqual(await page.title(), "ran")
  })

  it("that somebody else has changed are not overwritten before their change is shown", async () => {
    const { id } = await console.make("clients", { name: "Harbour", description: "Pumps" })
    const page = await console.open(`/clients/${id}`)
    await page.click("main .page-head button:has-text('Edit')")
    await page.fill("input[name=name]", "Harbour Works")
    const path = `/clients/${id}`
    await console.service.api("PATCH", path, { as: "owner", tenant: console.tenant, body: { description: "Valves" } })
    await page.click("dialog button:has-text('Save')")
    await page.waitForSelector("dialog:has-text('Somebody else was faster')")
    assert.deepStrictEqual(await page.locator("dialog tbody tr >> nth=0").locator("th, td").allTextContents(), [
      "Description",
      "Pumps",
      "Valves",
      "not changed"
    ])
    await page.click("text=Apply my change")
    await page.waitForSelector("h1:has-text('Harbour Works')")
    await page.waitForSelector(".lead:has-text('Valves')")
  })

  it("offer a viewer nothing that a viewer may not do", async () => {
    const { id } = await console.make("clients", { name: "Quiet" })
    const body = { subject: "vera", role: "VIEWER" }
    await console.service.api("POST", "/members", { as: "owner", tenant: console.tenant, body })
    const page = await console.open(`/clients/${id}`, { as: "vera" })
    await page.waitForSelector("text=Balance")
    await page.waitForSelector("text=vera · Viewer")
    assert.deepStrictEqual(await page.locator("main button").allTextContents(), ["Statement"])
  })
})

import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { pathOf, publicUrl } from "../../support/fixtures/clientPages.ts"
import { makeMailFixture } from "../../support/fixtures/mails.ts"
import { type MailServer, startMailServer } from "../../support/servers/mailServer.ts"
import { type Service, startService } from "../../support/servers/service.ts"
import { type RunningWorker, startWorker } from "../../support/servers/worker.ts"

/** The text of a mail, without the line breaks of its encoding. */
const textOf = (source: string) => source.replace(/=\r?\n/g, "").replaceAll("=3D", "=")

describe("The link in a mail", () => {
  let service: Service
  let server: MailServer
  let running: ReadonlyArray<RunningWorker>
  beforeAll(async () => {
    server = await startMailServer({ hideSTARTTLS: true })
    service = await startService({ PUBLIC_URL: publicUrl })
    running = [await startWorker(service, "relay"), await startWorker(service, "delivery")]
  })
  afterAll(async () => {
    await Promise.all(running.map(({ stop }) => stop()))
    await service.stop()
    await server.stop()
  })

  /** Sends a document, and returns the links in the mail. */
  const makeSender = async () => {
    const fixture = await makeMailFixture(service, server.port)
    let count = 0
    const linksIn = async (document: string, path: string) => {
      const to = `ada.${fixture.tenant}.${count++}@client.example`.toLowerCase()
      await fixture.send(document, { to: [to], message: "Hello\n\n{link}\n\nBye" }, path)
      await fixture.waitFor(document, "DELIVERED", path)
      const source = server.mails.find((mail) => mail.to === to)?.source ?? assert.fail("no mail")
      assert.notInclude(source, "{link}")
      return [...new Set(textOf(source).match(/https:\/\/billing\.example\.test\/base\/i\/[\w-]{43}/g) ?? [])]
    }
    return { ...fixture, linksIn }
  }

  it("opens the page of the invoice, and is the same in every mail and in the API", async () => {
    const { invoicing, issue, linksIn } = await makeSender()
    const invoice = await issue()
    const [link = "", ...others] = await linksIn(invoice, "invoices")
    assert.isEmpty(others)
    assert.strictEqual((await service.call("GET", pathOf(link))).status, 200)
    assert.deepStrictEqual(await linksIn(invoice, "invoices"), [link])
    assert.strictEqual((await invoicing.call("GET", `/invoices/${invoice}/link`)).body.data.url, link)
  })

  it("of a credit note opens the page of its invoice", async () => {
    const { invoicing, issue, linksIn } = await makeSender()
    const invoice = await issue()
    const note = await invoicing.call("POST", "/credit-notes", { invoiceId: invoice, reason: "Mistake", full: true })
    const { id } = note.body.data
    await invoicing.call("POST", `/credit-notes/${id}/finalize`)
    const { url } = (await invoicing.call("GET", `/invoices/${invoice}/link`)).body.data
    assert.deepStrictEqual(await linksIn(id, "credit-notes"), [url])
  })

  it("is the new one after a rotation, and left out while it is revoked", async () => {
    const { invoicing, issue, linksIn } = await makeSender()
    const invoice = await issue()
    const [before] = await linksIn(invoice, "invoices")
    await invoicing.call("DELETE", `/invoices/${invoice}/link`)
    assert.deepStrictEqual(await linksIn(invoice, "invoices"), [])
    const { url } = (await invoicing.call("POST", `/invoices/${invoice}/link/rotate`)).body.data
    assert.notStrictEqual(url, before)
    assert.deepStrictEqual(await linksIn(invoice, "invoices"), [url])
  })
})

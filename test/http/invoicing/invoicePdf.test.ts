import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { readPdf, rowsOf, textsOf } from "../../support/assertions/pdfText.ts"
import { resourceMaker } from "../../support/fixtures/resources.ts"
import { type Service, startService } from "../../support/servers/service.ts"

describe("the PDF of an invoice", () => {
  let service: Service
  let tenant: string
  let token: string
  beforeAll(async () => {
    service = await startService()
    tenant = await service.newTenant()
    token = await service.token("owner")
  })
  afterAll(() => service.stop())

  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await service.api(method, path, { as: token, tenant, ...(body === undefined ? {} : { body }) })
    assert.isTrue(answer.status < 300, answer.text)
    return answer.body?.data
  }

  const pdf = async (invoice: string, headers: Readonly<Record<string, string>> = {}) => {
    const response = await fetch(`${service.url}/api/v1/invoices/${invoice}/pdf`, {
      headers: { authorization: `Bearer ${token}`, "tenant-id": tenant, ...headers }
    })
    return { status: response.status, headers: response.headers, bytes: new Uint8Array(await response.arrayBuffer()) }
  }

  const pagesOf = async (invoice: string) => (await readPdf((await pdf(invoice)).bytes)).pages

  /** A draft with everything that is drawn, and these lines. */
  const stage = async (lines: ReadonlyArray<object> = [{ name: "Inspection", quantity: 2.5, amountMinor: 10_050 }]) => {
    const { make } = resourceMaker(service, tenant)
    const client = await make("clients", { name: "Northwind" })
    const address = await make("addresses", { clientId: client.id, name: "Northwind Ltd", vatNumber: "GB123456789" })
    const own = await make("addresses", { clientId: undefined, name: "Harbour Works", order: 0 })
    const contract = await make("contracts", { clientId: client.id, name: "Pumps", status: "ACTIVE" })
    const { id } = await call("POST", "/invoices", { contractId: contract.id })
    for (let start = 0; start < lines.length; start += 1000) {
      await call("POST", "/billables", { invoiceId: id, billables: lines.slice(start, start + 1000) })
    }
    return { id: String(id), client, address, own, contract }
  }

  const finalized = async () => {
    const staged = await stage()
    const { invoiceNumber } = await call("POST", `/invoices/${staged.id}/finalize`)
    return { ...staged, invoiceNumber: String(invoiceNumber) }
  }

  it("shows the invoice, and is named after its number", async () => {
    const { id, invoiceNumber } = await finalized()
    const { bytes, headers, status } = await pdf(id)
    assert.strictEqual(status, 200)
    assert.strictEqual(headers.get("content-type"), "application/pdf")
    assert.strictEqual(headers.get("content-disposition"), `inline; filename="${invoiceNumber}.pdf"`)
    assert.strictEqual(headers.get("content-length"), String(bytes.length))
    const { pages } = await readPdf(bytes)
    const rows = pages.flatMap(rowsOf).map((row) => row.join("|"))
    assert.includeMembers(rows, [
      invoiceNumber,
      "Harbour Works|Northwind Ltd",
      "VAT GB123456789",
      "1|Inspection|2.5|100.50|251.25",
      "Total EUR|251.25"
    ])
  })

  it("of a draft is named after the invoice's id", async () => {
    const { id } = await stage()
    assert.strictEqual((await pdf(id)).headers.get("content-disposition"), `inline; filename="${id}.pdf"`)
  })

  it("is not sent again to who has it", async () => {
    const { id } = await finalized()
    const etag = (await pdf(id)).headers.get("etag") ?? assert.fail()
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
      const { bytes, headers, status } = await pdf(id, { "if-none-match": known })
      assert.deepStrictEqual([status, bytes.length, headers.get("etag")], [304, 0, etag])
    }
    assert.strictEqual((await pdf(id, { "if-none-match": '"other"' })).status, 200)
  })

  it("stays the same bytes once finalized, whatever is renamed, and when it is paid", async () => {
    const { address, client, contract, id, own } = await finalized()
    const before = await pdf(id)
    const again = await pdf(id)
    assert.deepStrictEqual(again.bytes, before.bytes)
    for (const path of [
      `/clients/${client.id}`,
      `/tenants/${tenant}`,
      `/addresses/${address.id}`,
      `/addresses/${own.id}`,
      `/contracts/${contract.id}`
    ]) {
      await call("PATCH", path, { name: "Renamed" })
      assert.deepStrictEqual((await pdf(id)).bytes, before.bytes, path)
    }
    await call("POST", `/invoices/${id}/pay`)
    const paid = await pdf(id)
    assert.deepStrictEqual(paid.bytes, before.bytes)
    assert.strictEqual(paid.headers.get("etag"), before.headers.get("etag"))
  })

  it("of a draft follows what it is drawn of", async () => {
    const { address, id } = await stage()
    const before = await pdf(id)
    await call("PATCH", `/addresses/${address.id}`, { name: "Renamed Ltd" })
    const [page = assert.fail()] = await pagesOf(id)
    assert.include(textsOf(page), "Renamed Ltd")
    assert.notStrictEqual((await pdf(id)).headers.get("etag"), before.headers.get("etag"))
  })

  it("is marked while it is a draft and when it is void, and not in between", async () => {
    const { id } = await stage(Array.from({ length: 60 }, (_, index) => ({ name: `Line ${index}`, amountMinor: 100 })))
    const marks = async () => (await pagesOf(id)).map(({ marks }) => marks.join())
    assert.deepStrictEqual([...new Set(await marks())], ["DRAFT"])
    await call("POST", `/invoices/${id}/finalize`)
    assert.deepStrictEqual([...new Set(await marks())], [""])
    await call("POST", `/invoices/${id}/void`)
    assert.deepStrictEqual([...new Set(await marks())], ["VOID"])
  })

  it("keeps no other request waiting while it is drawn", async () => {
    const description = "Travel to the site, cleaning of the impeller, trial run under load. ".repeat(3)
    const lines = Array.from({ length: 5000 }, (_, index) => ({
      name: `Line ${index}`,
      amountMinor: index,
      description
    }))
    const { id } = await stage(lines)
    const finished: Array<string> = []
    const drawing = pdf(id).then(({ status }) => finished.push(`pdf ${status}`))
    for (let time = 0; time < 50; time++) await call("GET", "/clients?limit=1")
    finished.push("others")
    await drawing
    assert.deepStrictEqual(finished, ["others", "pdf 200"])
  }, 120_000)
})

import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { readPdf, rowsOf, textsOf } from "../../support/assertions/pdfText.ts"
import { resourceMaker } from "../../support/fixtures/resources.ts"
import { type Service, startService } from "../../support/servers/service.ts"

describe("The PDF of an invoice", () => {
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
    const response = await service.api(method, path, { as: token, tenant, ...(body === undefined ? {} : { body }) })
    assert.isTrue(response.status < 300, response.text)
    return response.body?.data
  }

  const getPdf = async (invoice: string, headers: Readonly<Record<string, string>> = {}) => {
    const response = await fetch(`${service.url}/api/v1/invoices/${invoice}/pdf`, {
      headers: { authorization: `Bearer ${token}`, "tenant-id": tenant, ...headers }
    })
    return { status: response.status, headers: response.headers, bytes: new Uint8Array(await response.arrayBuffer()) }
  }

  const readPages = async (invoice: string) => (await readPdf((await getPdf(invoice)).bytes)).pages

  /** Creates a draft with client, addresses, contract and lines. */
  const createDraft = async (
    lines: ReadonlyArray<object> = [{ name: "Inspection", quantity: 2.5, amountMinor: 10_050 }]
  ) => {
    const { make } = resourceMaker(service, tenant)
    const client = await make("clients", { name: "Northwind" })
    const address = await make("addresses", { clientId: client.id, name: "Northwind Ltd", vatNumber: "GB123456789" })
    const own = await make("addresses", { clientId: undefined, name: "Harbour Works", order: 0 })
    const contract = await make("contracts", { clientId: client.id, name: "Pumps", status: "ACTIVE" })
    const { id } = await call("POST", "/invoices", { contractId: contract.id })
    await call("POST", "/billables", { invoiceId: id, billables: lines })
    return { id: String(id), client, address, own, contract }
  }

  const createFinalized = async () => {
    const draft = await createDraft()
    const { invoiceNumber } = await call("POST", `/invoices/${draft.id}/finalize`)
    return { ...draft, invoiceNumber: String(invoiceNumber) }
  }

  it("shows the invoice and is named after its number", async () => {
    const { id, invoiceNumber } = await createFinalized()
    const { bytes, headers, status } = await getPdf(id)
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

  it("of a draft is named after its id", async () => {
    const { id } = await createDraft()
    assert.strictEqual((await getPdf(id)).headers.get("content-disposition"), `inline; filename="${id}.pdf"`)
  })

  it("is not sent again when If-None-Match matches", async () => {
    const { id } = await createFinalized()
    const etag = (await getPdf(id)).headers.get("etag") ?? assert.fail()
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
      const { bytes, headers, status } = await getPdf(id, { "if-none-match": known })
      assert.deepStrictEqual([status, bytes.length, headers.get("etag")], [304, 0, etag])
    }
    assert.strictEqual((await getPdf(id, { "if-none-match": '"other"' })).status, 200)
  })

  it("of a finalized invoice keeps its bytes after renames and after payment", async () => {
    const { address, client, contract, id, own } = await createFinalized()
    const before = await getPdf(id)
    const again = await getPdf(id)
    assert.deepStrictEqual(again.bytes, before.bytes)
    for (const path of [
      `/clients/${client.id}`,
      `/tenants/${tenant}`,
      `/addresses/${address.id}`,
      `/addresses/${own.id}`,
      `/contracts/${contract.id}`
    ]) {
      await call("PATCH", path, { name: "Renamed" })
      assert.deepStrictEqual((await getPdf(id)).bytes, before.bytes, path)
    }
    await call("POST", `/invoices/${id}/pay`)
    const paid = await getPdf(id)
    assert.deepStrictEqual(paid.bytes, before.bytes)
    assert.strictEqual(paid.headers.get("etag"), before.headers.get("etag"))
  })

  it("of a draft shows current data", async () => {
    const { address, id } = await createDraft()
    const before = await getPdf(id)
    await call("PATCH", `/addresses/${address.id}`, { name: "Renamed Ltd" })
    const [page = assert.fail()] = await readPages(id)
    assert.include(textsOf(page), "Renamed Ltd")
    assert.notStrictEqual((await getPdf(id)).headers.get("etag"), before.headers.get("etag"))
  })

  it("has a watermark while the invoice is DRAFT or VOID", async () => {
    const { id } = await createDraft(
      Array.from({ length: 60 }, (_, index) => ({ name: `Line ${index}`, amountMinor: 100 }))
    )
    const marks = async () => (await readPages(id)).map(({ marks }) => marks.join())
    assert.deepStrictEqual([...new Set(await marks())], ["DRAFT"])
    await call("POST", `/invoices/${id}/finalize`)
    assert.deepStrictEqual([...new Set(await marks())], [""])
    await call("POST", `/invoices/${id}/void`)
    assert.deepStrictEqual([...new Set(await marks())], ["VOID"])
  })

  it("is rendered without blocking other requests", async () => {
    const description = "Travel to the site, cleaning of the impeller, trial run under load. ".repeat(3)
    const lines = Array.from({ length: 1000 }, (_, index) => ({
      name: `Line ${index}`,
      amountMinor: index,
      description
    }))
    const { id } = await createDraft(lines)
    const finished: Array<string> = []
    const rendering = getPdf(id).then(({ status }) => finished.push(`pdf ${status}`))
    for (let request = 0; request < 10; request++) await call("GET", "/clients?limit=1")
    finished.push("others")
    await rendering
    assert.deepStrictEqual(finished, ["others", "pdf 200"])
  })
})

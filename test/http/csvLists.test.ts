import { parse } from "csv-parse/sync"
import { assert, beforeAll, describe, it } from "vitest"
import { operationsOf } from "../support/assertions/operations.ts"
import { insertClients } from "../support/fixtures/clientRows.ts"
import { invoiceClient } from "../support/fixtures/invoices.ts"
import { type ResourceBody, resourceMaker } from "../support/fixtures/resources.ts"
import { useFixture } from "../support/fixtures/useFixture.ts"
import { startServiceWithPool } from "../support/servers/serviceWithPool.ts"

describe("Lists as CSV", () => {
  const fixture = useFixture(startServiceWithPool)
  let tenant: string
  let token: string
  beforeAll(async () => {
    tenant = await fixture().service.newTenant()
    token = await fixture().service.token("owner")
  })

  const get = async (path: string, accept = "text/csv", inTenant = tenant) => {
    const response = await fetch(`${fixture().service.url}/api/v1${path}`, {
      headers: { authorization: `Bearer ${token}`, "tenant-id": inTenant, accept }
    })
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
  const readCsv = async (path: string, inTenant = tenant): Promise<ReadonlyArray<Record<string, string>>> => {
    const { status, text } = await get(path, "text/csv", inTenant)
    assert.strictEqual(status, 200, text)
    return parse(text, { columns: true, relax_quotes: false })
  }

  it("have a head line with all fields, and one line for each item", async () => {
    const { service } = fixture()
    const { make } = resourceMaker(service, tenant)
    const client = await make("clients", {
      name: 'Harbour "Works", Ltd',
      description: "one\ntwo",
      language: "de"
    })
    const { headers, text } = await get("/clients")
    assert.strictEqual(headers.get("content-type"), "text/csv; charset=utf-8; header=present")
    assert.strictEqual(headers.get("content-disposition"), 'attachment; filename="clients.csv"')
    assert.strictEqual(text.split("\r\n")[0], "id,name,description,language,order,media,createdAt,updatedAt")
    assert.deepStrictEqual(await readCsv("/clients"), [
      {
        id: client.id,
        name: 'Harbour "Works", Ltd',
        description: "one\ntwo",
        language: "de",
        order: "",
        media: "[]",
        createdAt: String(client["createdAt"]),
        updatedAt: String(client["updatedAt"])
      }
    ])
  })

  it("defuse texts that a spreadsheet would run, and keep negative amounts", async () => {
    const { add, draft } = invoiceClient(fixture().service, tenant)
    const { id } = await draft()
    await add(id, { name: '=HYPERLINK("https://evil.test")', amountMinor: -5 })
    const [line] = await readCsv(`/billables?invoiceId=${id}`)
    assert.deepInclude(line, { name: `'=HYPERLINK("https://evil.test")`, amountMinor: "-5", lineTotalMinor: "-5" })
  })

  it("are complete without a limit, and one page with one", async () => {
    const { service } = fixture()
    const own = await service.newTenant(token)
    const { make } = resourceMaker(service, own, token)
    const { id: clientId } = await make("clients")
    const contracts: Array<ResourceBody> = []
    for (let n = 0; n < 60; n++) contracts.push(await make("contracts", { clientId, name: `Contract ${n}` }))
    const whole = await readCsv("/contracts", own)
    assert.deepStrictEqual(
      whole.map(({ id }) => id),
      contracts.map(({ id }) => id)
    )
    const sorted = await readCsv("/contracts?sort=-createdAt", own)
    assert.deepStrictEqual(sorted, whole.toReversed())
    const { headers, text } = await get("/contracts?limit=7", "text/csv", own)
    assert.lengthOf(text.trimEnd().split("\r\n"), 8)
    assert.include(headers.get("link") ?? "", 'rel="next"')
    assert.isNull((await get("/contracts", "text/csv", own)).headers.get("link"))
  })

  it("are streamed when they are long", async () => {
    const { pool, service } = fixture()
    const own = await service.newTenant(token)
    await insertClients(pool, own, 5000)
    const { headers, text } = await get("/clients", "text/csv", own)
    assert.isNull(headers.get("content-length"))
    const rows: ReadonlyArray<Record<string, string>> = parse(text, { columns: true })
    const ids = rows.map(({ id }) => id)
    const { body } = await service.api("GET", "/clients", { as: token, tenant: own })
    assert.deepStrictEqual(
      ids,
      body.data.map(({ id }: ResourceBody) => id)
    )
  })

  it("are chosen by the Accept header alone", async () => {
    const json = ["*/*", "application/json", "text/html,text/csvx", "application/json, text/csv", "text/csv;q=0"]
    for (const accept of json)
      assert.strictEqual((await get("/clients", accept)).headers.get("content-type"), "application/json", accept)
    for (const accept of ["text/csv;q=0.9, application/json;q=0.1", "*/*, TEXT/CSV"])
      assert.match((await get("/clients", accept)).headers.get("content-type") ?? "", /^text\/csv/, accept)
  })

  it("leave errors and single resources as they are", async () => {
    const failed = await get("/invoices?limit=0")
    assert.deepStrictEqual([failed.status, failed.headers.get("content-type")], [400, "application/json"])
    const single = await get(`/tenants/${tenant}`)
    assert.deepStrictEqual([single.status, single.headers.get("content-type")], [200, "application/json"])
  })

  it("exist for every list of a tenant, empty or not, and are documented", async () => {
    const lists = operationsOf(fixture().service.document).filter(({ name }) => /^GET \/api\/v1\/[a-z-]+$/.test(name))
    const found: Array<string> = []
    for (const { name } of lists) {
      const path = name.replace("GET /api/v1", "")
      const { responses } = fixture().service.document.paths[`/api/v1${path}`]?.["get"] ?? assert.fail(path)
      const success = responses["200"]
      const isCsv = success !== undefined && "description" in success && success.description.includes("text/csv")
      const response = await get(path)
      const type = response.headers.get("content-type") ?? ""
      if (response.status === 200) assert.strictEqual(type.startsWith("text/csv"), isCsv, path)
      if (type.startsWith("text/csv")) found.push(path)
    }
    assert.includeMembers(found, [
      ...["/tenants", "/members", "/clients", "/addresses", "/contacts", "/emails", "/contracts", "/projects"],
      ...["/invoices", "/tax-rates", "/assets", "/integrations", "/events"]
    ])
  })
})

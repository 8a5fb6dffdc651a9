import { assert, beforeAll, describe, it } from "vitest"
import { encodeCursor } from "../../../src/http/api/Paging.ts"
import { assertValidationError } from "../../support/assertions/failures.ts"
import { type InvoiceBody, invoiceClient } from "../../support/fixtures/invoices.ts"
import { readPages } from "../../support/fixtures/pages.ts"
import { resourceMaker } from "../../support/fixtures/resources.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { startServiceWithPool } from "../../support/servers/serviceWithPool.ts"

const byId = (a: { readonly id: string }, b: { readonly id: string }) => (a.id < b.id ? -1 : 1)

describe("GET /invoices", () => {
  const fixture = useFixture(startServiceWithPool)
  let tenant: string
  let invoices: ReadonlyArray<InvoiceBody>
  let clients: ReadonlyArray<string>

  const list = async (query: string) => {
    const pages = await readPages(fixture().service, `/invoices?${query}`, { as: "owner", tenant })
    return pages.flat().map(({ id }) => id)
  }

  beforeAll(async () => {
    const { pool, service } = fixture()
    tenant = await service.newTenant()
    const { make } = resourceMaker(service, tenant)
    const { add, contract, draft, read, transition } = invoiceClient(service, tenant)
    const names = ["Northwind Trading", "Southwind", "100% Pumps_"]
    clients = await Promise.all(names.map(async (name) => (await make("clients", { name })).id))
    const contracts = await Promise.all(clients.map(async (clientId) => (await contract({ clientId })).id))
    const created: Array<string> = []
    for (let n = 0; n < 24; n++) {
      const { id } = await draft({
        contractId: contracts[n % 3],
        ...(n % 4 === 0 ? { dueAt: `2099-0${1 + (n % 8)}-01T00:00:00Z` } : {})
      })
      await add(id, {})
      if (n % 2 === 0) await transition(id, "finalize")
      if (n % 6 === 0) await transition(id, "pay")
      created.push(id)
    }
    // Issue dates and due dates that a test cannot wait for.
    await pool.query("alter table invoices disable trigger invoices_kept")
    await pool.query(
      `update invoices set issued_at = '2026-01-31T22:30:00Z'::timestamptz + (place % 5) * interval '1 hour',
         due_at = case when place % 3 = 0 then '2026-02-01T00:00:00Z' else due_at end
       where tenant_id = $1 and place is not null`,
      [tenant]
    )
    await pool.query("alter table invoices enable trigger invoices_kept")
    invoices = (await Promise.all(created.map(read))).sort(byId)
  })

  const idsWhere = (condition: (invoice: InvoiceBody, index: number) => boolean) =>
    invoices.filter(condition).map(({ id }) => id)
  const clientOf = async (contract: string) =>
    (await fixture().service.api("GET", `/contracts/${contract}`, { as: "owner", tenant })).body.data.client

  it("filters by client, also beside a status", async () => {
    const [north = ""] = clients
    const contracts = new Set(
      await Promise.all(
        invoices.map(async ({ contract }) => ((await clientOf(contract)) === north ? contract : undefined))
      )
    )
    const ofNorth = idsWhere(({ contract }) => contracts.has(contract))
    assert.lengthOf(ofNorth, 8)
    assert.deepStrictEqual(await list(`clientId=${north}&limit=3`), ofNorth)
    const paid = new Set(idsWhere(({ status }) => status === "PAID"))
    assert.deepStrictEqual(
      await list(`clientId=${north}&status=PAID`),
      ofNorth.filter((id) => paid.has(id))
    )
  })

  it("finds an invoice by its number", async () => {
    const wanted = invoices.find(({ invoiceNumber }) => invoiceNumber !== undefined)
    assert.deepStrictEqual(await list(`number=${wanted?.["invoiceNumber"]}`), [wanted?.id])
    assert.deepStrictEqual(await list("number=INV-1"), [])
  })

  it("searches numbers and names of clients, in upper or lower case", async () => {
    const numbered = idsWhere(({ invoiceNumber }) => String(invoiceNumber).includes("000003"))
    assert.deepStrictEqual(await list("q=000003"), numbered)
    const ofNorth = new Set(await list(`clientId=${clients[0]}`))
    assert.deepStrictEqual(
      await list("q=NORTHwind&limit=3"),
      idsWhere(({ id }) => ofNorth.has(id))
    )
    const ofSouth = new Set(await list(`clientId=${clients[1]}`))
    assert.deepStrictEqual(
      await list("q=wind"),
      idsWhere(({ id }) => ofNorth.has(id) || ofSouth.has(id))
    )
  })

  it("takes the characters % and _ of a search as they are", async () => {
    const ofThird = await list(`clientId=${clients[2]}`)
    assert.deepStrictEqual(await list(`q=${encodeURIComponent("0% p")}`), ofThird)
    assert.deepStrictEqual(await list(`q=${encodeURIComponent("s_")}`), ofThird)
    assert.deepStrictEqual(await list(`q=${encodeURIComponent("%%")}`), [])
    assert.deepStrictEqual(await list(`q=${encodeURIComponent("\\\\")}`), [])
  })

  it("filters by days of issue in the time zone of the tenant", async () => {
    const issuedBetween = (from: string, to: string) =>
      idsWhere(({ issuedAt }) => issuedAt !== undefined && String(issuedAt) >= from && String(issuedAt) < to)
    const january = await list("issuedFrom=2026-01-01&issuedTo=2026-01-31")
    assert.deepStrictEqual(january, issuedBetween("2026-01-01T00:00:00.000Z", "2026-02-01T00:00:00.000Z"))
    assert.isNotEmpty(january)
    const { service } = fixture()
    const setTimeZone = (timeZone: string) =>
      service.api("PATCH", `/tenants/${tenant}`, { as: "owner", tenant, body: { timeZone } })
    await setTimeZone("Europe/Berlin")
    assert.deepStrictEqual(
      await list("issuedTo=2026-01-31"),
      issuedBetween("2026-01-01T00:00:00.000Z", "2026-01-31T23:00:00.000Z")
    )
    assert.deepStrictEqual(
      await list("issuedFrom=2026-02-01"),
      issuedBetween("2026-01-31T23:00:00.000Z", "2099-01-01T00:00:00.000Z")
    )
    await setTimeZone("UTC")
  })

  it("rejects a day that does not exist, and unknown sorts", async () => {
    const { service } = fixture()
    const path = "/invoices?issuedFrom=2026-02-30&issuedTo=0000-01-01&sort=total&q=x"
    assertValidationError(
      await service.api("GET", path, { as: "owner", tenant }),
      ["issuedFrom", "format", 'must be a date such as 2026-11-14, but is "2026-02-30"'],
      ["issuedTo", "format", 'must be a date such as 2026-11-14, but is "0000-01-01"'],
      ["q", "minLength", "must have at least 2 characters"],
      ["sort", "enum", 'must be one of createdAt, issuedAt, dueAt, -createdAt, -issuedAt, -dueAt, but is "total"']
    )
  })

  for (const field of ["createdAt", "issuedAt", "dueAt"] as const)
    for (const sort of [field, `-${field}`]) {
      it(`sorts by ${sort}, page by page`, async () => {
        const keyOf = (invoice: InvoiceBody) => (field === "createdAt" ? "" : String(invoice[field] ?? "~"))
        const sorted = [...invoices].sort((a, b) => {
          const [one, other] = [keyOf(a), keyOf(b)]
          if (one !== other) return one < other ? -1 : 1
          return byId(a, b)
        })
        const expected = sorted.map(({ id }) => id)
        if (sort.startsWith("-")) expected.reverse()
        for (const limit of [1, 5, 200]) assert.deepStrictEqual(await list(`sort=${sort}&limit=${limit}`), expected)
      })
    }

  it("rejects the cursor of another sort, and survives one that was made up", async () => {
    const { service } = fixture()
    const get = (path: string) => service.api("GET", path, { as: "owner", tenant })
    const { headers } = await get("/invoices?sort=dueAt&limit=2")
    const cursor = new URLSearchParams(/\?([^>]+)>/.exec(headers.get("link") ?? "")?.[1]).get("cursor")
    const message = "is not a cursor of this list; use the one in the Link header of the previous page"
    for (const query of ["", "&sort=-dueAt", "&sort=issuedAt"])
      assertValidationError(await get(`/invoices?cursor=${cursor}${query}`), ["cursor", "format", message])
    for (const key of ["", "yesterday", "9999-99-99T99:99:99.999Z", "' or 1=1"]) {
      const invented = encodeCursor({ id: "inv_1", sort: "dueAt", key })
      assert.strictEqual((await get(`/invoices?sort=dueAt&cursor=${invented}`)).status, 200, key)
    }
  })
})

import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { readPage, sectionOf, tableRowsOf } from "../support/assertions/docs.ts"
import { readPdf, rowsOf } from "../support/assertions/pdfText.ts"
import { invoiceClient } from "../support/fixtures/invoices.ts"
import { resourceMaker } from "../support/fixtures/resources.ts"
import { commonRates, taxRateMaker } from "../support/fixtures/taxRates.ts"
import { type Service, startService } from "../support/servers/service.ts"

const page = "docs/tax-examples.md"

const rates = [
  commonRates.standard,
  commonRates.reduced,
  commonRates.withinEu,
  commonRates.exempt,
  { name: "TVA 20 %", percent: 20, category: "S" },
  { name: "TVA 5.5 %", percent: 5.5, category: "S" },
  { name: "Consumption tax 10 %", percent: 10, category: "S" },
  { name: "Consumption tax 8 %", percent: 8, category: "S" }
]

const headings = [...readPage(page).matchAll(/^## (.+)$/gm)].map(([, heading = ""]) => heading)

/** The rows of a table by the titles of its columns. */
const tablesOf = (section: string) =>
  section.split("\n\n").flatMap((block) => {
    const [titles, ...rows] = tableRowsOf(block)
    if (titles === undefined) return []
    return [rows.map((row) => Object.fromEntries(titles.map((title, index) => [title, row[index] ?? ""])))]
  })

const minorOf = (amount = "") => Number(amount.replace(/[,.]/g, ""))

describe("The worked examples of the documentation", () => {
  let service: Service
  let tenant: string
  let clientId: string
  const rateIds = new Map<string, string>()
  beforeAll(async () => {
    service = await startService({})
    tenant = await service.newTenant()
    const { make } = resourceMaker(service, tenant)
    const address = { name: "Harbour Works GmbH", country: "Germany", city: "Hamburg", zip: "20457" }
    await make("addresses", { ...address, clientId: undefined, vatNumber: "DE123456789" })
    clientId = (await make("clients", { name: "Nordvent SARL" })).id
    await make("addresses", { clientId, name: "Nordvent SARL", country: "France", vatNumber: "FR12345678901" })
    for (const rate of rates) rateIds.set(rate.name, (await taxRateMaker(service, tenant).createTaxRate(rate)).id)
    const bankAccount = { name: "Harbour Works GmbH", iban: "DE89370400440532013000", bic: "COBADEFFXXX" }
    await service.api("PATCH", `/tenants/${tenant}`, { as: "owner", tenant, body: { bankAccount } })
  })
  afterAll(() => service.stop())

  it("are five", () => {
    assert.lengthOf(headings, 5)
  })

  it.each(headings)("add up in the API and on paper: %s", async (heading) => {
    const { add, call, contract, draft, transition } = invoiceClient(service, tenant)
    const section = sectionOf(page, heading)
    const currencyCode = /^In ([A-Z]{3})\./m.exec(section)?.[1]
    const [lines = [], sums = []] = tablesOf(section)
    const discount = sums.find(({ Sum = "" }) => Sum.startsWith("Discount"))
    const { id } = await draft({
      contractId: (await contract({ clientId, currencyCode, name: heading })).id,
      ...(discount === undefined ? {} : { discount: { percent: Number(/\d+/.exec(discount["Sum"] ?? "")?.[0]) } })
    })
    const created = await add(
      id,
      ...lines.map(({ Discount, Line, Price, Quantity, Tax = "" }) => ({
        name: Line,
        quantity: Number(Quantity),
        amountMinor: minorOf(Price),
        taxRateIds: [rateIds.get(Tax)],
        ...(Discount === undefined ? {} : { discount: { percent: Number.parseFloat(Discount) } })
      }))
    )
    assert.deepStrictEqual(
      created.map(({ lineTotalMinor }) => lineTotalMinor),
      lines.map(({ Net }) => minorOf(Net))
    )
    const invoice = await transition(id, "finalize")
    const shown = [
      ["Subtotal", invoice.subtotalMinor],
      ...(discount === undefined ? [] : [[discount["Sum"], -invoice.discountMinor]]),
      ...invoice.taxes.map(({ name, taxMinor }) => [name, taxMinor]),
      ["Total", invoice.totalMinor]
    ]
    assert.deepStrictEqual(
      shown,
      sums.map(({ Amount, Sum }) => [Sum, minorOf(Amount)])
    )
    const pdf = await fetch(`${service.url}/api/v1/invoices/${id}/pdf`, {
      headers: { authorization: `Bearer ${await service.token("owner")}`, "tenant-id": tenant }
    })
    const bytes = new Uint8Array(await pdf.arrayBuffer())
    const rows = (await readPdf(bytes)).pages.flatMap(rowsOf).map((row) => row.join(" "))
    for (const { Amount = "", Sum = "" } of sums)
      assert.isTrue(
        rows.some((row) => row.startsWith(Sum) && row.endsWith(` ${Amount}`)),
        `${Sum} ${Amount} in\n${rows.join("\n")}`
      )
    const reasons = rates.flatMap((rate) =>
      "exemptionReason" in rate && lines.some(({ Tax }) => Tax === rate.name) ? [rate.exemptionReason] : []
    )
    for (const text of [...reasons, "IBAN DE89 3704 0044 0532 0130 00"]) assert.include(rows.join("\n"), text)
    assert.strictEqual((await call("GET", `/invoices/${id}/explain`)).body.data.totalMinor, invoice.totalMinor)
  })
})

import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { expectedTotals, makeCiiSchemaCheck, readTotals, type Syntax } from "../../support/assertions/eInvoiceXml.ts"
import { readHybrid } from "../../support/assertions/hybridPdf.ts"
import { startPayer } from "../../support/fixtures/payments.ts"
import { resourceMaker } from "../../support/fixtures/resources.ts"
import { taxRateMaker } from "../../support/fixtures/taxRates.ts"
import { type Service, startService } from "../../support/servers/service.ts"

const syntaxes: ReadonlyArray<Syntax> = ["cii", "ubl"]

describe("E-invoices", () => {
  const ciiErrors = makeCiiSchemaCheck()
  let service: Service
  beforeAll(async () => {
    service = await startService()
  })
  afterAll(() => service.stop())

  /** A client with an invoice in draft, which lacks nothing but the country codes of both addresses. */
  const makeDraft = async () => {
    const tenant = await service.newTenant()
    const { make } = resourceMaker(service, tenant)
    const payer = await startPayer(service, tenant)
    const own = await make("addresses", { clientId: undefined, vatNumber: "DE123456789" })
    const theirs = await make("addresses", { clientId: payer.client })
    const { createCommonRate } = taxRateMaker(service, tenant)
    const [standard, reduced] = [await createCommonRate("standard"), await createCommonRate("reduced")]
    const { id } = await payer.draft({ contractId: payer.contractId, discount: { percent: 5 } })
    await payer.add(
      id,
      { name: "Pump & valve", quantity: 2.5, amountMinor: 8833, taxRateIds: [standard], unitCode: "HUR" },
      { amountMinor: 1999, taxRateIds: [reduced], discount: { amountMinor: 200 } },
      { amountMinor: -350, taxRateIds: [standard] }
    )
    const fillIn = async () => {
      for (const [address, countryCode] of [
        [own, "DE"],
        [theirs, "FR"]
      ] as const) {
        const { status, text } = await payer.call("PATCH", `/addresses/${address.id}`, { countryCode })
        assert.strictEqual(status, 200, text)
      }
    }
    return { ...payer, id, fillIn }
  }

  const missingCountries = [
    { rule: "BR-09", field: "tenant.address.countryCode" },
    { rule: "BR-11", field: "client.address.countryCode" }
  ]

  it("say of a draft which rules it does not meet, until it meets all", async () => {
    const { call, fillIn, id } = await makeDraft()
    const check = async () => (await call("GET", `/invoices/${id}/e-invoice-check`)).body.data
    const { errors, isReady } = await check()
    assert.isFalse(isReady)
    assert.deepStrictEqual(
      errors.map(({ field, rule }: { field: string; rule: string }) => ({ rule, field })),
      missingCountries
    )
    await fillIn()
    assert.deepStrictEqual(await check(), { isReady: true, errors: [] })
  })

  it("are refused for a draft, and for an invoice that does not meet the standard", async () => {
    const { call, id, transition } = await makeDraft()
    const draft = await call("GET", `/invoices/${id}/xml`)
    assert.strictEqual(draft.status, 400)
    assert.deepInclude(draft.body.details[0], { field: "status", constraint: "state" })
    await transition(id, "finalize")
    const { body, status } = await call("GET", `/invoices/${id}/xml?syntax=ubl`)
    assert.strictEqual(status, 400)
    assert.deepStrictEqual(
      body.details.map(({ field, message }: { field: string; message: string }) => ({
        rule: message.split(":")[0],
        field
      })),
      missingCountries
    )
  })

  it("reject another syntax", async () => {
    const { call, id } = await makeDraft()
    const { body, status } = await call("GET", `/invoices/${id}/xml?syntax=edifact`)
    assert.strictEqual(status, 400)
    assert.deepInclude(body.details[0], { field: "syntax" })
  })

  it("of an invoice have its totals in both syntaxes, follow the schema, and stay the same", async () => {
    const { call, fillIn, get, id, pay, transition } = await makeDraft()
    await fillIn()
    await transition(id, "finalize")
    const invoice = await get<Parameters<typeof expectedTotals>[0]["invoice"]>(`/invoices/${id}`)
    const read = async (syntax: Syntax) => {
      const { headers, status, text } = await call("GET", `/invoices/${id}/xml?syntax=${syntax}`)
      assert.strictEqual(status, 200, text)
      assert.strictEqual(headers.get("content-type"), "application/xml")
      assert.include(headers.get("content-disposition") ?? "", `${invoice.invoiceNumber}.xml`)
      return text
    }
    const before = await Promise.all(syntaxes.map(read))
    for (const [index, syntax] of syntaxes.entries())
      assert.deepStrictEqual(
        readTotals(before[index] ?? "", syntax, "EUR"),
        expectedTotals({ invoice, lines: [], parties: { tenant: { name: "" }, client: { name: "" } } })
      )
    assert.deepStrictEqual(ciiErrors(before[0] ?? ""), [])
    await pay(invoice.totalMinor, [[id, invoice.totalMinor]])
    assert.deepStrictEqual(await Promise.all(syntaxes.map(read)), before)
    assert.strictEqual((await call("GET", `/invoices/${id}/xml`)).text, before[0])
  })

  it("are in the PDFs of invoices and credit notes, byte by byte", async () => {
    const { call, draftNote, fillIn, finalizeNote, id, tenant, transition } = await makeDraft()
    await fillIn()
    const readAttachments = async (path: string) => {
      const response = await fetch(`${service.url}/api/v1${path}/pdf`, {
        headers: { authorization: `Bearer ${await service.token("owner")}`, "tenant-id": tenant }
      })
      assert.strictEqual(response.status, 200)
      return (await readHybrid(new Uint8Array(await response.arrayBuffer()))).attachments
    }
    assert.deepStrictEqual(await readAttachments(`/invoices/${id}`), [])
    await transition(id, "finalize")
    const { id: note } = await draftNote(id, { full: true })
    await finalizeNote(note)
    for (const path of [`/invoices/${id}`, `/credit-notes/${note}`]) {
      const [attachment] = await readAttachments(path)
      assert.strictEqual(new TextDecoder().decode(attachment?.bytes), (await call("GET", `${path}/xml`)).text)
    }
  })

  it("of a credit note name the invoice and have the totals of the note", async () => {
    const { call, draftNote, fillIn, finalizeNote, get, id, lines, transition } = await makeDraft()
    await fillIn()
    const { invoiceNumber } = await transition(id, "finalize")
    const [first] = await lines(id)
    const { id: note } = await draftNote(id, { lines: [{ billableId: first?.id, quantity: 1 }] })
    assert.deepStrictEqual((await call("GET", `/credit-notes/${note}/e-invoice-check`)).body.data, {
      isReady: true,
      errors: []
    })
    assert.strictEqual((await call("GET", `/credit-notes/${note}/xml`)).status, 400)
    await finalizeNote(note)
    const creditNote = await get<NonNullable<Parameters<typeof expectedTotals>[0]["creditNote"]>>(
      `/credit-notes/${note}`
    )
    const invoice = await get<Parameters<typeof expectedTotals>[0]["invoice"]>(`/invoices/${id}`)
    for (const syntax of syntaxes) {
      const { status, text } = await call("GET", `/credit-notes/${note}/xml?syntax=${syntax}`)
      assert.strictEqual(status, 200, text)
      assert.include(text, String(invoiceNumber))
      assert.deepStrictEqual(
        readTotals(text, syntax, "EUR"),
        expectedTotals({ invoice, creditNote, lines: [], parties: { tenant: { name: "" }, client: { name: "" } } })
      )
      if (syntax === "cii") assert.deepStrictEqual(ciiErrors(text), [])
    }
  })
})

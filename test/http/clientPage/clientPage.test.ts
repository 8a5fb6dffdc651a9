import { assert, describe, it } from "vitest"
import type { PageStatus } from "../../../src/domain/clientPage/PageStatus.ts"
import { pageStatuses } from "../../../src/domain/clientPage/PageStatus.ts"
import { pageTexts } from "../../../src/domain/clientPage/PageTexts.ts"
import { type Language, languages } from "../../../src/domain/locale/Language.ts"
import { makeOverdue, makePageFixture, type PageFixture, startPageService } from "../../support/fixtures/clientPages.ts"
import { png } from "../../support/fixtures/images.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"

const strictHeaders = {
  "cache-control": "private, no-store",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-robots-tag": "noindex"
}

describe("GET /i/{token}", { timeout: 60_000 }, () => {
  const fixture = useFixture(startPageService)
  const open = (path: string, method = "GET") => fixture().service.call(method, path)

  /** An invoice in each status of the page. */
  const reach: Readonly<Record<PageStatus, (page: PageFixture, invoice: string, total: number) => Promise<unknown>>> = {
    OPEN: async () => {},
    OVERDUE: (_, invoice) => makeOverdue(fixture().pool, invoice),
    PARTIALLY_PAID: ({ pay }, invoice) => pay(invoice, 1000),
    PAID: ({ pay }, invoice, total) => pay(invoice, total),
    CREDITED: ({ credit }, invoice) => credit(invoice),
    SETTLED: ({ call }, invoice) => call("POST", `/invoices/${invoice}/write-off`, { reason: "Goodwill" }),
    VOID: ({ transition }, invoice) => transition(invoice, "void")
  }

  const cases = languages.flatMap((language) =>
    pageStatuses.map((status): readonly [Language, PageStatus] => [language, status])
  )

  it.each(cases)("shows in %s that an invoice is %s, and how to pay only what is open", async (language, status) => {
    const page = await makePageFixture(fixture().service, language)
    const { id, totalMinor } = await page.issue()
    await reach[status](page, id, totalMinor)
    const { headers, status: code, text } = await open(await page.pathTo(id))
    assert.strictEqual(code, 200)
    assert.strictEqual(headers.get("content-type"), "text/html; charset=utf-8")
    const texts = pageTexts[language]
    assert.include(text, `<html lang="${language}">`)
    assert.include(text, `<p class="status">${texts.status[status]}</p>`)
    const isToPay = ["OPEN", "OVERDUE", "PARTIALLY_PAID"].includes(status)
    for (const invitation of ["DE89 3704 0044 0532 0130 00", texts.payment, 'class="qr"'])
      assert.strictEqual(text.includes(invitation), isToPay, invitation)
  })

  it("has the headers that keep the page and its token to the client", async () => {
    const page = await makePageFixture(fixture().service)
    const path = await page.pathTo((await page.issue()).id)
    for (const response of [await open(path), await open(`${path}/pdf`), await open("/i/nothing")])
      for (const [name, value] of Object.entries(strictHeaders)) assert.strictEqual(response.headers.get(name), value)
    const policy = (await open(path)).headers.get("content-security-policy") ?? ""
    assert.match(policy, /^default-src 'none'; style-src 'sha256-[\w+/=]+'; img-src 'self' data:; /)
    assert.notInclude(policy, "script")
    assert.notInclude(policy, "unsafe")
  })

  it("shows parties, lines, taxes, sums and dates in the language of the client and the time zone of the tenant", async () => {
    const page = await makePageFixture(fixture().service, "de")
    const { id } = await page.issue({ dueAt: "2030-01-01T23:30:00Z" })
    const { text } = await open(await page.pathTo(id))
    for (const shown of [
      "Harbour Works GmbH",
      "Northwind Trading Ltd",
      "USt-IdNr. DE123456789",
      "2. Januar 2030",
      "Pump inspection",
      "Both pumps, with a report",
      "2,5",
      "Rabatt 10\u00a0% (Regular customer): -12,00",
      "19\u00a0% von 328,00",
      "390,32 EUR",
      "PO-4711",
      "billing@harbour-works.example"
    ])
      assert.include(text, shown)
  })

  it("sums payments and credits, and lists the credit notes", async () => {
    const page = await makePageFixture(fixture().service)
    const { id } = await page.issue()
    await page.pay(id, 10_000)
    const [line] = await page.lines(id)
    const note = await page.credit(id, { lines: [{ billableId: line?.id, amountMinor: 1000 }] })
    const { text } = await open(await page.pathTo(id))
    for (const shown of ["-100.00", "-11.90", "278.42 EUR", note.creditNoteNumber, "11.90 EUR", "Partially paid"])
      assert.include(text, shown)
  })

  it("shows the first lines of a long invoice and points to the PDF", async () => {
    const page = await makePageFixture(fixture().service)
    const { id } = await page.issue(
      {},
      Array.from({ length: 130 }, (_, n) => ({ name: `Line ${n}`, amountMinor: 1 }))
    )
    const { text } = await open(await page.pathTo(id))
    assert.include(text, "These are the first 100 of 130 lines.")
    assert.include(text, "Line 99<")
    assert.notInclude(text, "Line 100<")
  })

  it("shows the bank account as of the issue, or else that of the tenant now", async () => {
    const page = await makePageFixture(fixture().service)
    const before = await page.pathTo((await page.issue()).id)
    const change = (body: object) => page.call("PATCH", `/tenants/${page.tenant}`, body)
    await change({ bankAccount: null })
    const between = await page.pathTo((await page.issue()).id)
    assert.include((await open(between)).text, "ask Harbour Works which account")
    await change({ bankAccount: { name: "Other", iban: "FR1420041010050500013M02606" } })
    assert.include((await open(before)).text, "DE89 3704 0044 0532 0130 00")
    assert.include((await open(between)).text, "FR14 2004 1010 0505 0001 3M02 606")
  })

  it("serves the PDF of the invoice and its logo below the same token", async () => {
    const page = await makePageFixture(fixture().service)
    const logo = png({ width: 300, height: 100 })
    await page.addLogo(logo)
    const { id } = await page.issue()
    const path = await page.pathTo(id)
    const download = async (url: string, headers = {}) =>
      Buffer.from(await (await fetch(fixture().service.url + url, { headers })).arrayBuffer())
    const authorization = `Bearer ${await fixture().service.token("owner")}`
    const own = await download(`/api/v1/invoices/${id}/pdf`, { authorization, "tenant-id": page.tenant })
    assert.isTrue((await download(`${path}/pdf`)).equals(own))
    assert.isTrue((await download(`${path}/logo`)).equals(logo))
    assert.include((await open(path)).text, `<img src="${path.slice(3)}/logo" alt="Harbour Works GmbH">`)
  })

  it("shows texts of the tenant and of the client as text", async () => {
    const page = await makePageFixture(fixture().service)
    const markup = `<script>alert("1")</script><b onclick='x'>&amp;`
    await page.call("PATCH", `/tenants/${page.tenant}`, { name: markup })
    const { id } = await page.issue({ notes: markup, purchaseOrder: markup, buyerReference: markup }, [
      { name: markup, description: markup, amountMinor: 1 }
    ])
    const { text } = await open(await page.pathTo(id))
    assert.notInclude(text, "<script")
    assert.notInclude(text, "<b onclick")
    assert.include(text, "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;")
  })
})

import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import sharp from "sharp"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { unpack } from "../support/assertions/archive.ts"
import { blocksOf, sectionOf, shellOf } from "../support/assertions/docs.ts"
import { readPdf, rowsOf } from "../support/assertions/pdfText.ts"
import { type Service, startService } from "../support/servers/service.ts"
import { runFirstMinutes, runJsonShell, runShell } from "../support/servers/shell.ts"

describe("The commands of the documentation", { timeout: 90_000 }, () => {
  let service: Service
  let firstMinutes: Awaited<ReturnType<typeof runFirstMinutes>>
  beforeAll(async () => {
    service = await startService({})
    firstMinutes = await runFirstMinutes(service)
  })
  afterAll(() => service.stop())

  it("lead from a token to the PDF of an invoice in README.md", async () => {
    const { responses } = firstMinutes
    assert.lengthOf(responses, 4)
    const [own, theirs, lines, invoice] = responses
    assert.deepInclude(own.data, { name: "Harbour Works Ltd", city: "Hamburg" })
    assert.notProperty(own.data, "client")
    assert.match(theirs.data.client, /^clnt_/)
    assert.deepStrictEqual(
      lines.data.map(({ lineTotalMinor }: { lineTotalMinor: number }) => lineTotalMinor),
      [22_000, 7980]
    )
    assert.deepInclude(invoice.data, { status: "FINALIZED", totalMinor: 29_980 })
    const { pages } = await readPdf(new Uint8Array(readFileSync(join(service.dataDir, "invoice.pdf"))))
    const text = pages.flatMap(rowsOf).join("\n")
    for (const words of ["Harbour Works Ltd", "Northwind BV", "Amsterdam", "Pump inspection", "299.80"])
      assert.include(text, words)
  })

  it("show the conventions in docs/api.md", async () => {
    const sections = [
      "Tenants and roles",
      "Requests and responses",
      "Errors",
      "Lists and paging",
      "Idempotency keys",
      "Versions",
      "Expand",
      "Limits"
    ].map((heading) => shellOf("docs/api.md", heading))
    const responses = await runJsonShell(service, [firstMinutes.shell, ...sections])
    assert.lengthOf(responses, 11)
    const [member, changed, invalid, page, found, first, again, renamed, outdated, project, limits] = responses
    assert.deepInclude(member.data, { subject: "bob", role: "MEMBER" })
    assert.deepInclude(changed.data, { description: "Pumps and valves", order: 1 })
    const [example = ""] = blocksOf(sectionOf("docs/api.md", "Errors"), "json")
    assert.deepStrictEqual(invalid, JSON.parse(example))
    assert.lengthOf(page.data, 1)
    assert.strictEqual(found.data[0].totalMinor, 29_980)
    const csv = readFileSync(join(service.dataDir, "invoices.csv"), "utf8").split("\r\n")
    assert.match(csv[0] ?? "", /^id,contract,status,invoiceNumber,/)
    assert.include(csv[1] ?? "", found.data[0].id)
    assert.strictEqual(first.data.name, "Southwind")
    assert.deepStrictEqual(again, first)
    assert.strictEqual(renamed.data.name, "Northwind Pumps")
    assert.strictEqual(outdated.error, "PreconditionFailed")
    assert.strictEqual(project.data.contract.client.name, "Northwind Pumps")
    assert.isNotEmpty(limits.data)
  })

  it("explain, tax and discount invoices and upload a logo in docs/invoices.md", async () => {
    const logo = join(service.dataDir, "mine.png")
    await sharp({ create: { width: 40, height: 20, channels: 3, background: "#1f6f54" } }).toFile(logo)
    const replacements = { "LOGO=logo.png": `LOGO=${logo}` }
    const responses = await runJsonShell(service, [firstMinutes.shell, shellOf("docs/invoices.md")], replacements)
    assert.lengthOf(responses, 14)
    const [
      explained,
      rates,
      defaults,
      ,
      taxed,
      discounted,
      series,
      dryRun,
      zone,
      header,
      account,
      pending,
      ready,
      branded
    ] = responses
    assert.strictEqual(explained.data.lines[1].runningTotalMinor, 29_980)
    assert.deepStrictEqual(defaults.data.defaultTaxRates, [rates.data[0].id])
    assert.deepInclude(taxed.data, { subtotalMinor: 18_000, taxMinor: 3420, totalMinor: 21_420 })
    assert.deepInclude(discounted.data, { discountMinor: 1800, taxMinor: 3078, totalMinor: 19_278 })
    assert.strictEqual(series.data.next, 2)
    assert.strictEqual(dryRun.data.status, "VOID")
    assert.strictEqual(zone.data.timeZone, "Europe/Berlin")
    assert.deepInclude(header.data, { purchaseOrder: "PO-4711", serviceTo: "2026-11-30" })
    assert.strictEqual(account.data.bankAccount.name, "Harbour Works")
    assert.deepStrictEqual([pending.data.status, ready.data.status], ["PENDING", "READY"])
    assert.deepInclude(branded.data.media[0], { slot: "logo", assetId: ready.data.assetId, status: "READY" })
    assert.isTrue(readFileSync(join(service.dataDir, "logo.png")).equals(readFileSync(logo)))
  })

  it("record, allocate, refund and reverse payments and write off a balance in docs/payments.md", async () => {
    const shell = shellOf("docs/payments.md")
    const [payment, allocated, paid, refunded, reversed, writtenOff, balance] = await runJsonShell(service, [
      firstMinutes.shell,
      shell
    ])
    assert.deepInclude(payment.data, { amountMinor: 25_000, unallocatedMinor: 5000, createdBy: "alice" })
    assert.deepInclude(allocated.data, { unallocatedMinor: 20 })
    assert.deepInclude(paid.data, { status: "FINALIZED", paidMinor: 24_980, balanceMinor: 5000 })
    assert.deepInclude(refunded.data, { unallocatedMinor: 0, refundedMinor: 20 })
    assert.deepInclude(reversed.data, { status: "REVERSED", reversalReason: "Booked for the wrong client" })
    assert.deepInclude(writtenOff.data, { writtenOffMinor: 3000, balanceMinor: 2000 })
    assert.deepStrictEqual(balance.data.balances, [
      { currencyCode: "EUR", openMinor: 2000, overdueMinor: 0, unusedMinor: 0 }
    ])
  })

  it("read statements, ages, revenue and taxes in docs/reports.md", async () => {
    const shells = [firstMinutes.shell, shellOf("docs/payments.md"), shellOf("docs/reports.md")]
    const [statement, aging, totals, revenue, byClient, taxes] = (await runJsonShell(service, shells)).slice(-6)
    const [{ closingMinor, entries, openingMinor }] = statement.data.currencies
    assert.deepStrictEqual([openingMinor, closingMinor], [0, 2000])
    assert.deepStrictEqual(
      // The test of payments may have run the same commands before.
      entries.slice(0, 6).map(({ amountMinor, kind }: { amountMinor: number; kind: string }) => [kind, amountMinor]),
      [
        ["INVOICE", 29_980],
        ["PAYMENT", -25_000],
        ["REFUND", 20],
        ["PAYMENT", -700],
        ["REVERSAL", 700],
        ["WRITE_OFF", -3000]
      ]
    )
    assert.deepInclude(aging.data[0], { notDueMinor: 2000, openMinor: 2000, unusedMinor: 0 })
    assert.deepInclude(totals.data[0], { currencyCode: "EUR", openMinor: 2000 })
    assert.deepInclude(revenue.data[0], { invoicedMinor: 29_980, netMinor: 29_980 })
    assert.deepInclude(byClient.data[0], { netMinor: 29_980 })
    assert.deepStrictEqual(taxes.data, [])
    const { pages } = await readPdf(new Uint8Array(readFileSync(join(service.dataDir, "statement.pdf"))))
    const text = pages.flatMap(rowsOf).join("\n")
    for (const words of ["STATEMENT", "Northwind BV", "Opening balance", "299.80", "20.00"]) assert.include(text, words)
    const csv = readFileSync(join(service.dataDir, "statement.csv"), "utf8").split("\r\n")
    assert.match(csv[0] ?? "", /^currencyCode,day,bookedAt,kind,/)
    assert.match(csv[1] ?? "", /^EUR,[^,]*,,OPENING,/)
  })

  it("download and verify an export in docs/export.md", async () => {
    await runJsonShell(service, [firstMinutes.shell, shellOf("docs/export.md", "Download")])
    const folder = join(service.dataDir, "export")
    for (const [name, content] of await unpack(readFileSync(join(service.dataDir, "export.zip")))) {
      mkdirSync(dirname(join(folder, name)), { recursive: true })
      writeFileSync(join(folder, name), content)
    }
    const verify = [shellOf("docs/export.md", "Verify")]
    assert.strictEqual(await runShell(service, verify), "")
    writeFileSync(join(folder, "data", "clients.jsonl"), "{}\n")
    const failure = await runShell(service, verify).catch((error: { readonly stdout: string }) => error.stdout)
    assert.include(failure, "data/clients.jsonl")
  })

  it("credit a line and everything else in docs/credit-notes.md", async () => {
    const responses = await runJsonShell(service, [firstMinutes.shell, shellOf("docs/credit-notes.md")])
    assert.lengthOf(responses, 3)
    const [note, rest, explained] = responses
    assert.deepInclude(note.data, { status: "FINALIZED", totalMinor: 500, unallocatedMinor: 0 })
    assert.match(note.data.creditNoteNumber, /^CN-\d{4}-000001$/)
    assert.deepInclude(rest.data, { status: "FINALIZED", full: true, totalMinor: 29_480 })
    assert.deepInclude(explained.data, { subtotalMinor: 500, totalMinor: 500 })
    assert.strictEqual(readFileSync(join(service.dataDir, "credit-note.pdf")).subarray(0, 5).toString(), "%PDF-")
  })

  it("create a subscriber over NATS in docs/nats.md", async () => {
    const responses = await runJsonShell(service, [firstMinutes.shell, shellOf("docs/nats.md")])
    assert.deepInclude(responses.at(-1).data, { eventType: "invoice.*", scopeKey: "tenant" })
  })
})

import { assert, describe, it } from "vitest"
import { assertFailure, assertValidationError, notFoundText } from "../../support/assertions/failures.ts"
import { readPdf } from "../../support/assertions/pdfText.ts"
import { useCreditNotes } from "../../support/fixtures/creditNotes.ts"

describe("Credit notes", () => {
  const { creditOf, eventsOf, fixture, invoiceWith, newPayer, settledOf } = useCreditNotes()

  it("are drafted, finalized with a number of their own series, and settle their invoice", async () => {
    const payer = await newPayer()
    const { id: vat } = await payer.createTaxRate({ name: "VAT 19 %", percent: 19, category: "S" })
    const invoice = await invoiceWith(payer, { amountMinor: 1000, quantity: 3, taxRateIds: [vat] })
    const draft = await payer.draftNote(invoice.id, { lines: [{ billableId: invoice.lineAt(0), quantity: 1 }] })
    const { createdAt, id, updatedAt, ...fields } = draft
    const amounts = {
      lines: [{ billable: invoice.lineAt(0), quantity: 1, amountMinor: 1000 }],
      subtotalMinor: 1000,
      discountMinor: 0,
      taxes: [{ taxRates: [vat], name: "VAT 19 %", percent: 19, category: "S", baseMinor: 1000, taxMinor: 190 }],
      taxMinor: 190,
      totalMinor: 1190
    }
    assert.match(id, /^crn_[a-z0-9]{26}$/)
    assert.strictEqual(createdAt, updatedAt)
    assert.deepStrictEqual(fields, {
      invoice: invoice.id,
      client: payer.client,
      status: "DRAFT",
      currencyCode: "EUR",
      reason: "Mistake",
      full: false,
      ...amounts,
      allocations: [],
      unallocatedMinor: 0,
      refundedMinor: 0,
      createdBy: "owner"
    })
    assert.deepInclude(await settledOf(payer, invoice.id), { creditedMinor: 0, balanceMinor: 3570 })

    const note = await payer.finalizeNote(id)
    const year = new Date().getUTCFullYear()
    assert.deepInclude(note, {
      ...amounts,
      status: "FINALIZED" as const,
      creditNoteNumber: `CN-${year}-000001`,
      allocations: [{ invoice: invoice.id, amountMinor: 1190 }],
      unallocatedMinor: 0
    })
    assert.deepStrictEqual(await payer.get(`/credit-notes/${id}`), note)
    assert.deepStrictEqual(await settledOf(payer, invoice.id), {
      status: "FINALIZED",
      paidMinor: 0,
      creditedMinor: 1190,
      balanceMinor: 2380
    })
    assert.deepStrictEqual(await eventsOf(payer, id), ["credit_note.created", "credit_note.finalized"])
    assert.deepStrictEqual((await eventsOf(payer, invoice.id)).at(-1), "invoice.updated")
    const series = await payer.get<{ periods: ReadonlyArray<object> }>("/credit-note-series")
    assert.deepStrictEqual(series.periods, [
      { period: String(year), first: `CN-${year}-000001`, last: `CN-${year}-000001`, gaps: [], count: 1 }
    ])
  })

  it("are rejected beyond what is left of lines, sets and the invoice, with every error", async () => {
    const payer = await newPayer()
    const { id: vat } = await payer.createTaxRate({ name: "VAT 19 %", percent: 19, category: "S" })
    const invoice = await invoiceWith(
      payer,
      { amountMinor: 100, quantity: 4, taxRateIds: [vat] },
      { amountMinor: -30, taxRateIds: [vat] },
      { amountMinor: 50 }
    )
    const [first, reduction, untaxed] = [0, 1, 2].map(invoice.lineAt)
    const draft = (...lines: ReadonlyArray<object>) =>
      payer.call("POST", "/credit-notes", { invoiceId: invoice.id, reason: "Mistake", lines })
    assertValidationError(
      await draft(
        { billableId: first, quantity: 5 },
        { billableId: reduction, amountMinor: 30 },
        { billableId: untaxed, amountMinor: 51 },
        { billableId: `bil_${"0".repeat(26)}`, amountMinor: 1 }
      ),
      ["lines[0].quantity", "max", "must be at most 4, what is left of the line, but is 5"],
      ["lines[1].amountMinor", "max", "must be below 0, like what is left of the line, but is 30"],
      ["lines[2].amountMinor", "max", "must be at most 50, what is left of the line, but is 51"],
      ["lines[3].billableId", "exists", "is not a line of the invoice"]
    )
    assertValidationError(await draft({ billableId: first, quantity: 4 }), [
      "lines",
      "max",
      "would credit 400 of lines with the same taxes that come to 370; credit the others of them as well"
    ])
    assertValidationError(await draft({ billableId: first, amountMinor: 1, quantity: 1 }), [
      "lines[0]",
      "required",
      "must have exactly one of quantity and amountMinor"
    ])
    const note = await creditOf(payer, invoice.id)
    assert.deepInclude(note, { totalMinor: 490, subtotalMinor: 420, taxMinor: 70 })
    assertValidationError(
      await payer.call("POST", "/credit-notes", { invoiceId: invoice.id, reason: "x", full: true }),
      ["invoiceId", "state", "is credited in full; nothing of it is left to credit"]
    )
    assertValidationError(
      await payer.tryTransition(invoice.id, "void"),
      ["status", "state", "is PAID; only a DRAFT or FINALIZED invoice can be voided"],
      [
        "status",
        "state",
        `is PAID and cannot become VOID: credit note ${note.creditNoteNumber} of it was finalized at ${note.issuedAt}; create a credit note for what is left`
      ]
    )
  })

  it("can be changed and deleted as drafts alone, and are checked again when they are finalized", async () => {
    const payer = await newPayer()
    const invoice = await invoiceWith(payer, { amountMinor: 1000 })
    const billableId = invoice.lineAt(0)
    const content = { lines: [{ billableId, amountMinor: 600 }] }
    const [one, two] = [await payer.draftNote(invoice.id, content), await payer.draftNote(invoice.id, content)]
    const path = `/credit-notes/${two.id}`
    const { body, status } = await payer.call("PATCH", path, { reason: "Another", full: true })
    assert.strictEqual(status, 200)
    assert.deepInclude(body.data, { reason: "Another", full: true, lines: [], totalMinor: 1000 })
    const back = await payer.call("PATCH", path, content)
    assert.deepInclude(back.body.data, { full: false, totalMinor: 600 })
    assertValidationError(await payer.call("PATCH", path, { ...content, full: true }), [
      "body",
      "required",
      "must have exactly one of lines and full: true"
    ])

    const dryRun = await payer.call("POST", `${path}/finalize?dryRun=true`)
    assert.strictEqual(dryRun.body.data.status, "FINALIZED")
    await payer.finalizeNote(one.id)
    assertValidationError(await payer.call("POST", `${path}/finalize`), [
      "lines[0].amountMinor",
      "max",
      "must be at most 400, what is left of the line, but is 600"
    ])
    for (const [method, suffix, change] of [
      ["PATCH", "", { reason: "x" }],
      ["DELETE", "", undefined],
      ["POST", "/finalize", undefined]
    ] as const)
      assertValidationError(await payer.call(method, `/credit-notes/${one.id}${suffix}`, change), [
        "status",
        "state",
        "is FINALIZED; only a DRAFT credit note can be changed or finalized"
      ])
    assertValidationError(await payer.call("POST", `${path}/refund`, { amountMinor: 1 }), [
      "status",
      "state",
      "is DRAFT; only a FINALIZED credit note can be used"
    ])
    assert.strictEqual((await payer.call("DELETE", path)).status, 204)
    assertFailure(await payer.call("GET", path), 404, notFoundText)
    const listed = await payer.get<ReadonlyArray<{ id: string }>>(
      `/credit-notes?invoiceId=${invoice.id}&status=FINALIZED`
    )
    assert.deepStrictEqual(
      listed.map(({ id }) => id),
      [one.id]
    )
  })

  it("of everything that is left credit the lines with a rest, and no line of another invoice", async () => {
    const payer = await newPayer()
    const other = await invoiceWith(payer, { amountMinor: 70 })
    const line = { referenceType: "order", amountMinor: 100, quantity: 3 }
    const invoice = await invoiceWith(
      payer,
      { ...line, referenceId: "credited in part" },
      { ...line, referenceId: "credited" },
      { ...line, referenceId: "of 0", amountMinor: 0 }
    )
    const [part, whole, zero] = [0, 1, 2].map(invoice.lineAt)
    const explain = async (id: string) =>
      (await payer.get<{ lines: ReadonlyArray<object> }>(`/credit-notes/${id}/explain`)).lines
    const first = (await payer.draftNote(invoice.id, { lines: [{ billableId: part, quantity: 1 }] })).id
    const onePiece = await explain(first)
    assert.lengthOf(onePiece, 1)
    await payer.finalizeNote(first)
    await creditOf(payer, invoice.id, { lines: [{ billableId: part, amountMinor: 20 }] })
    await creditOf(payer, invoice.id, { lines: [{ billableId: whole, amountMinor: 300 }] })
    const ofOther = { lines: [{ billableId: other.lineAt(0), amountMinor: 1 }] }
    assertValidationError(
      await payer.call("POST", "/credit-notes", { invoiceId: invoice.id, reason: "Mistake", ...ofOther }),
      ["lines[0].billableId", "exists", "is not a line of the invoice"]
    )
    const creditedOf = async (ofInvoice: string) => {
      const { rows } = await fixture().pool.query(
        `select credited_minor as minor, credited_quantity::int as quantity, released from billables where invoice_id = $1
         order by id`,
        [ofInvoice]
      )
      return rows
    }
    assert.deepStrictEqual(await creditedOf(invoice.id), [
      { minor: "120", quantity: 1, released: false },
      { minor: "300", quantity: 0, released: true },
      { minor: "0", quantity: 0, released: false }
    ])
    const draft = await payer.draftNote(invoice.id)
    const drafted = await explain(draft.id)
    const lines = [
      { billable: part, beforeMinor: 120, amountMinor: 180 },
      { billable: zero, beforeMinor: 0, amountMinor: 0 }
    ]
    assert.lengthOf(drafted, lines.length)
    for (const [index, each] of lines.entries()) assert.deepInclude(drafted[index], each)

    await payer.finalizeNote(draft.id)
    assert.deepStrictEqual(await explain(draft.id), drafted)
    assert.deepStrictEqual(await explain(first), onePiece)
    const { rows: saved } = await fixture().pool.query(
      `select billable_id as billable, before_minor::int as "beforeMinor", amount_minor::int as "amountMinor"
       from credit_note_lines where credit_note_id = $1 order by billable_id`,
      [draft.id]
    )
    assert.deepStrictEqual(saved, lines)
    assert.deepStrictEqual(await creditedOf(invoice.id), [
      { minor: "300", quantity: 3, released: true },
      { minor: "300", quantity: 3, released: true },
      { minor: "0", quantity: 3, released: true }
    ])
    assert.deepStrictEqual(await creditedOf(other.id), [{ minor: "0", quantity: 0, released: false }])
  })

  it("are explained, and shown as a PDF that stays the same", async () => {
    const payer = await newPayer()
    const { id: vat } = await payer.createTaxRate({ name: "VAT 19 %", percent: 19, category: "S" })
    const { id } = await payer.draft({ contractId: payer.contractId })
    const [line] = await payer.add(id, { name: "Pump inspection", amountMinor: 1001, quantity: 3, taxRateIds: [vat] })
    await payer.call("PATCH", `/invoices/${id}`, { discount: { percent: 10 } })
    const { invoiceNumber } = await payer.transition(id, "finalize")
    await creditOf(payer, id, { lines: [{ billableId: line?.id, amountMinor: 3 }] })
    const draft = await payer.draftNote(id, { lines: [{ billableId: line?.id, quantity: 1 }] })
    const before = await payer.get(`/credit-notes/${draft.id}/explain`)
    const note = await payer.finalizeNote(draft.id)
    const explained = await payer.get<Record<string, unknown>>(`/credit-notes/${note.id}/explain`)
    assert.deepStrictEqual(explained, before)
    assert.deepInclude(explained, {
      lines: [
        {
          billable: line?.id,
          name: "Pump inspection",
          quantity: 1,
          lineTotalMinor: 3003,
          beforeMinor: 3,
          amountMinor: 1001
        }
      ],
      taxSets: [
        {
          taxRates: [vat],
          netMinor: 3003,
          discountMinor: 300,
          beforeMinor: 3,
          amountMinor: 1001,
          creditedDiscountMinor: 100
        }
      ],
      taxes: [
        {
          name: "VAT 19 %",
          percent: 19,
          before: { baseMinor: 3, product: "0.57", roundedBy: "0.43", taxMinor: 1 },
          after: { baseMinor: 904, product: "171.76", roundedBy: "0.24", taxMinor: 172 },
          taxMinor: 171
        }
      ],
      totalMinor: 1072
    })

    const download = async () => {
      const { service } = fixture()
      const response = await fetch(`${service.url}/api/v1/credit-notes/${note.id}/pdf`, {
        headers: { authorization: `Bearer ${await service.token("owner")}`, "tenant-id": payer.tenant }
      })
      assert.strictEqual(response.headers.get("content-disposition"), `inline; filename="${note.creditNoteNumber}.pdf"`)
      return new Uint8Array(await response.arrayBuffer())
    }
    const pdf = await download()
    const text = (await readPdf(pdf)).pages.flatMap(({ pieces }) => pieces.map(({ text }) => text)).join("\n")
    for (const shown of [
      "CREDIT NOTE",
      note.creditNoteNumber,
      "Pump inspection",
      "Mistake",
      "Total credit EUR",
      "10.72"
    ])
      assert.include(text, String(shown))
    assert.include(text, `Credit for invoice ${invoiceNumber}`)
    assert.deepStrictEqual(await download(), pdf)
  })
})

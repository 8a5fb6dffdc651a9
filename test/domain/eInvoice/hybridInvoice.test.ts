import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { toEInvoice } from "../../../src/domain/eInvoice/EInvoiceMapping.ts"
import { toAttachedEInvoice } from "../../../src/domain/eInvoice/HybridInvoice.ts"
import { creditNoteSource, eInvoiceSource } from "../../support/fixtures/eInvoices.ts"
import { eInvoiceSources } from "../../support/fixtures/randomEInvoices.ts"
import { spoilings } from "../../support/fixtures/spoiledEInvoices.ts"

const source = eInvoiceSource({ lines: [{ rates: ["standard"], quantity: 1, amountMinor: 1000 }] })
const inStatus = (status: typeof source.invoice.status) => ({ ...source, invoice: { ...source.invoice, status } })

describe("The e-invoice in a PDF", () => {
  it("is that of every document that meets the standard", () => {
    fc.assert(
      fc.property(eInvoiceSources, (random) => {
        assert.deepStrictEqual(toAttachedEInvoice(random), toEInvoice(random))
      })
    )
  })

  it("does not change when the invoice is paid", () => {
    assert.deepStrictEqual(toAttachedEInvoice(inStatus("PAID")), toAttachedEInvoice(source))
  })

  it.each(["DRAFT", "VOID"] as const)("is missing from an invoice that is %s", (status) => {
    assert.isUndefined(toAttachedEInvoice(inStatus(status)))
  })

  it("is missing from a credit note in draft, and not from a finalized one on a void invoice", () => {
    const credited = creditNoteSource(source, { full: true })
    const { creditNote } = credited ?? {}
    if (credited === undefined || creditNote === undefined) return assert.fail("cannot be credited")
    assert.isUndefined(toAttachedEInvoice({ ...credited, creditNote: { ...creditNote, status: "DRAFT" } }))
    assert.isDefined(toAttachedEInvoice({ ...inStatus("VOID"), creditNote, lines: credited.lines }))
  })

  it.each(spoilings.map(({ name, sources }) => [name, sources] as const))("is missing with %s", (_, sources) => {
    fc.assert(
      fc.property(sources, (spoiled) => assert.isUndefined(toAttachedEInvoice(spoiled))),
      { numRuns: 3 }
    )
  })
})

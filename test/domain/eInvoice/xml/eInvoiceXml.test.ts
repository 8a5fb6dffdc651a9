import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { toEInvoice } from "../../../../src/domain/eInvoice/EInvoiceMapping.ts"
import { findReadinessErrors } from "../../../../src/domain/eInvoice/readiness/Readiness.ts"
import { expectedTotals, makeCiiSchemaCheck, readTotals, syntaxes } from "../../../support/assertions/eInvoiceXml.ts"
import { caseCount } from "../../../support/caseCount.ts"
import { eInvoiceSources } from "../../../support/fixtures/randomEInvoices.ts"

const numRuns = caseCount(10, 30)

describe("E-invoices of random invoices and credit notes", () => {
  it("have a CII document that meets the official schema", () => {
    const findSchemaErrors = makeCiiSchemaCheck()
    fc.assert(
      fc.property(eInvoiceSources, (source) => {
        assert.deepStrictEqual(findSchemaErrors(syntaxes.cii(toEInvoice(source))), [])
      }),
      { numRuns }
    )
  })

  it("state the totals of the API to the cent, in both syntaxes", () => {
    fc.assert(
      fc.property(eInvoiceSources, fc.constantFrom("cii", "ubl"), (source, syntax) => {
        const xml = syntaxes[syntax](toEInvoice(source))
        assert.deepStrictEqual(readTotals(xml, syntax, source.invoice.currencyCode), expectedTotals(source))
      }),
      { numRuns: 3 * numRuns }
    )
  })

  it("have nothing that the readiness check reports", () => {
    fc.assert(
      fc.property(eInvoiceSources, (source) => {
        assert.deepStrictEqual(findReadinessErrors(toEInvoice(source)), [])
      }),
      { numRuns: 10 * numRuns }
    )
  })
})

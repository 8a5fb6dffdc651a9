import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { toEInvoice } from "../../../../src/domain/eInvoice/EInvoiceMapping.ts"
import { findReadinessErrors } from "../../../../src/domain/eInvoice/readiness/Readiness.ts"
import { sectionOf, tableRowsOf } from "../../../support/assertions/docs.ts"
import { eInvoiceSource } from "../../../support/fixtures/eInvoices.ts"
import { spoilings } from "../../../support/fixtures/spoiledEInvoices.ts"

describe("The readiness check of e-invoices", () => {
  it.each(spoilings)("reports $rule for $name", ({ field, rule, sources }) => {
    fc.assert(
      fc.property(sources, (source) => {
        const errors = findReadinessErrors(toEInvoice(source))
        assert.include(
          errors.map((error) => `${error.rule} ${error.field}`),
          `${rule} ${field}`
        )
        for (const { message } of errors) assert.match(message, /^[A-Z].*\.$/)
      }),
      { numRuns: 3 }
    )
  })

  it("reports rules that the documentation explains", () => {
    const documented = tableRowsOf(sectionOf("docs/e-invoices.md", "Rules")).flatMap(([rules = ""]) =>
      rules.split(", ")
    )
    assert.deepStrictEqual(
      spoilings.map(({ rule }) => rule).filter((rule) => !documented.includes(rule)),
      []
    )
  })

  it("asks a draft for nothing that finalizing fills in", () => {
    const { invoice, ...rest } = eInvoiceSource({ lines: [{ rates: ["standard"], quantity: 1, amountMinor: 100 }] })
    const { dueAt: _, invoiceNumber: __, issuedAt: ___, ...draft } = invoice
    assert.deepStrictEqual(findReadinessErrors(toEInvoice({ ...rest, invoice: { ...draft, status: "DRAFT" } })), [])
  })
})

import { currencyDecimals } from "../../money/CurrencyDecimals.ts"
import type { EInvoice, Line } from "../EInvoice.ts"
import { noteSubjects, unlistedCurrencies } from "./CodeLists.ts"
import { countryErrors, findPartyErrors } from "./PartyRules.ts"
import { type ReadinessError, requireRule } from "./ReadinessError.ts"
import { findTextErrors, noteField, numberField } from "./TextRules.ts"
import { unitCodes } from "./UnitCodes.ts"
import { findVatErrors } from "./VatRules.ts"

/** The standard allows two decimals. Amounts of other currencies would need more, or have none. */
const maxDecimals = 2

const currencyErrors = (
  code: string,
  field: string,
  rules: { readonly list: string; readonly decimals: string }
): ReadonlyArray<ReadinessError> => [
  ...requireRule(
    !unlistedCurrencies.has(code),
    rules.list,
    field,
    `Use another currency; the currencies of e-invoices do not have ${code}.`
  ),
  ...requireRule(
    currencyDecimals(code) === maxDecimals,
    rules.decimals,
    field,
    `Use a currency with two decimals; ${code} has ${currencyDecimals(code)}.`
  )
]

const taxCurrencyErrors = ({ currencyCode, taxCurrency }: EInvoice): ReadonlyArray<ReadinessError> =>
  taxCurrency === undefined
    ? []
    : [
        ...currencyErrors(taxCurrency.code, "taxCurrencyCode", { list: "BR-CL-05", decimals: "BR-DEC-15" }),
        ...requireRule(
          taxCurrency.code !== currencyCode,
          "BR-53",
          "taxCurrencyCode",
          `Leave the tax currency out if it is ${currencyCode}, the currency of the invoice.`
        ),
        ...requireRule(
          taxCurrency.taxMinor !== undefined,
          "BR-53",
          "taxCurrencyRate",
          `Fill in the rate that converts the VAT from ${currencyCode} to ${taxCurrency.code}.`
        )
      ]

/** Finalizing gives a draft its number and its dates. */
const issueErrors = (invoice: EInvoice): ReadonlyArray<ReadinessError> => {
  const { dueDate, isDraft, issueDate, number, paymentTerms, totals } = invoice
  return isDraft
    ? []
    : [
        ...requireRule(
          number !== undefined,
          "BR-02",
          numberField(invoice),
          "Finalize the document; that gives it a number."
        ),
        ...requireRule(
          issueDate !== undefined,
          "BR-03",
          "issuedAt",
          "Finalize the document; that gives it a date of issue."
        ),
        ...requireRule(
          totals.dueMinor <= 0 || dueDate !== undefined || paymentTerms !== undefined,
          "BR-CO-25",
          "dueAt",
          "Fill in when payment is due."
        )
      ]
}

const periodErrors = ({ period: { from, to } = {} }: EInvoice) =>
  requireRule(
    from === undefined || to === undefined || from <= to,
    "BR-29",
    "serviceTo",
    `End the period of the service on ${from} or later; it ends on ${to}.`
  )

/** UBL has the subject of a note in its text. A text that looks like one must be one. */
const noteErrors = (invoice: EInvoice) => {
  const [, subject] = /^[^#]*#([^#]{3})#/u.exec(invoice.note ?? "") ?? []
  return requireRule(
    subject === undefined || noteSubjects.has(subject),
    "BR-CL-08",
    noteField(invoice),
    `Remove one # around ${subject}; #${subject}# would be the code of a subject that does not exist.`
  )
}

const precedingErrors = ({ precedingInvoice }: EInvoice) =>
  requireRule(
    precedingInvoice === undefined || precedingInvoice.number !== undefined,
    "BR-55",
    "invoice.invoiceNumber",
    "Credit a finalized invoice, which has a number."
  )

const documentErrors = (invoice: EInvoice): ReadonlyArray<ReadinessError> => [
  ...issueErrors(invoice),
  ...currencyErrors(invoice.currencyCode, "currencyCode", { list: "BR-CL-04", decimals: "BR-DEC-14" }),
  ...taxCurrencyErrors(invoice),
  ...noteErrors(invoice),
  ...precedingErrors(invoice),
  ...periodErrors(invoice),
  ...(invoice.deliverToCountry === undefined ? [] : countryErrors(invoice.deliverToCountry, "deliverToCountry"))
]

const categoryErrors = ({ id, otherTaxes, vat }: Line, field: string): ReadonlyArray<ReadinessError> => [
  ...requireRule(
    vat !== undefined,
    "BR-CO-04",
    field,
    `Give line ${id} a tax rate with a VAT category, such as E or O if no VAT is charged.`
  ),
  ...requireRule(
    otherTaxes.length === 0,
    "BR-CO-04",
    field,
    `Remove ${otherTaxes.join(", ")} from line ${id}; an e-invoice has no other tax than VAT.`
  )
]

const lineErrors = (line: Line, index: number): ReadonlyArray<ReadinessError> => {
  const path = `billables[${index}]`
  return [
    ...requireRule(line.name !== undefined, "BR-25", `${path}.name`, `Fill in the name of line ${line.id}.`),
    ...requireRule(
      unitCodes.has(line.unitCode),
      "BR-CL-23",
      `${path}.unitCode`,
      `Use a unit of UN/ECE Recommendation 20 such as HUR for hours; ${line.unitCode} is none.`
    ),
    ...categoryErrors(line, `${path}.taxRates`)
  ]
}

/** Every rule of EN 16931 that the e-invoice does not meet. Without one, its XML is valid. */
export const findReadinessErrors = (invoice: EInvoice): ReadonlyArray<ReadinessError> => [
  ...documentErrors(invoice),
  ...findPartyErrors(invoice),
  ...requireRule(invoice.lines.length > 0, "BR-16", "billables", "Add at least one billable."),
  ...invoice.lines.flatMap(lineErrors),
  ...findVatErrors(invoice),
  ...findTextErrors(invoice)
]

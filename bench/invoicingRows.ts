import { makeBilledReference } from "./invoiceSeed.ts"
import { type RejectedRequest, type Row, type RowRequest, rejectInForeignTenant } from "./row.ts"
import { type SeedTenant, tenants } from "./tenants.ts"

const linesPerRequest = 10

/** Hours, pieces and a discount, with and without a description or quantity, as users enter them. */
const lineTemplates = [
  (n: number) => ({ name: `Assembly, day ${n}`, quantity: 7.25, amountMinor: 14_550 }),
  (n: number) => ({ name: "Seal, 40 mm", quantity: 12, amountMinor: 385 + n, description: "From stock, Zürich" }),
  (n: number) => ({ name: `Travel to site ${n}`, amountMinor: 4_200 }),
  (n: number) => ({
    name: "Discount",
    quantity: -0.015,
    amountMinor: 99_999 + n,
    description: `As agreed, letter ${n}`
  }),
  (n: number) => ({ name: "Cable, per metre", quantity: 103.125, amountMinor: 219, currencyCode: "CHF", order: n })
]

const makeLines = (start: number) =>
  Array.from({ length: linesPerRequest }, (_, n) => lineTemplates[n % lineTemplates.length]?.(start + n) ?? {})

const makeAddRequest = (tenant: string, invoiceId: string, billables: ReadonlyArray<object>): RowRequest => ({
  path: "/api/v1/billables",
  tenant,
  body: { invoiceId, billables }
})

const validLine = { name: "Work", quantity: 1.5, amountMinor: 100 }

/** Lines that violate one rule each. */
const invalidLines: ReadonlyArray<readonly [description: string, line: object]> = [
  ["without an amount", { name: "Work" }],
  ["with a fractional amount", { ...validLine, amountMinor: 0.5 }],
  ["with an unknown field", { ...validLine, unknownField: 1 }],
  ["with too many decimals", { ...validLine, quantity: 0.0000000000001 }],
  ["with a total above the maximum", { ...validLine, quantity: 1_000_000_000, amountMinor: 1_000_000_000 }],
  ["in another currency", { ...validLine, currencyCode: "EUR" }],
  ["with half a reference", { ...validLine, referenceType: "timesheet" }],
  ["with metadata that is not text", { ...validLine, metadata: { cost: 1 } }]
]

const makeRejectedAdditions = ({ id, invoices }: SeedTenant): ReadonlyArray<RejectedRequest> => {
  const [invoice = ""] = invoices
  const with400 = (description: string, invoice: string, ...lines: ReadonlyArray<object>) => ({
    description,
    status: 400,
    request: makeAddRequest(id, invoice, lines)
  })
  return [
    rejectInForeignTenant(makeAddRequest(id, invoice, [validLine])),
    ...invalidLines.map(([description, line]) => with400(description, invoice, validLine, line)),
    with400("without lines", invoice),
    with400("with a reference that is already billed", invoice, { ...validLine, ...makeBilledReference(invoice) }),
    {
      description: "for an invoice of a foreign tenant",
      status: 404,
      request: makeAddRequest(id, tenants.foreign.invoices[0] ?? "", [validLine])
    },
    with400("with an invalid id", "none", validLine)
  ]
}

const makeAddRow = (tenant: SeedTenant): Omit<Row, "name"> => ({
  method: "POST",
  requests: tenant.invoices.map((invoice, n) => makeAddRequest(tenant.id, invoice, makeLines(n))),
  rejected: makeRejectedAdditions(tenant)
})

export const addLines: Row = {
  name: `POST /billables (${linesPerRequest} lines)`,
  ...makeAddRow(tenants.withDrafts)
}

/** Keeps the invoices well below the maximum number of lines. */
const maxAdditions = 900

const longInvoiceRow = makeAddRow(tenants.withLongDrafts)

export const addLinesToLongInvoice: Row = {
  ...longInvoiceRow,
  name: `${addLines.name} on an invoice with 10 000 lines`,
  requests: Array.from({ length: maxAdditions }, () => longInvoiceRow.requests).flat(),
  isSentOnce: true,
  onlyServer: "service",
  baselineRow: addLines.name
}

const makeVoidRequest = (tenant: string, invoice: string): RowRequest => ({
  path: `/api/v1/invoices/${invoice}/void`,
  tenant
})

const makeRejectedVoids = ({ id, invoices }: SeedTenant): ReadonlyArray<RejectedRequest> => {
  const [first = ""] = invoices
  return [
    rejectInForeignTenant(makeVoidRequest(id, first)),
    {
      description: "by a MEMBER",
      status: 403,
      request: makeVoidRequest(tenants.withDrafts.id, tenants.withDrafts.invoices[0] ?? "")
    },
    { description: "for the second time", status: 400, request: makeVoidRequest(id, first) },
    {
      description: "for an invoice of a foreign tenant",
      status: 404,
      request: makeVoidRequest(id, tenants.foreign.invoices[0] ?? "")
    },
    { description: "with an invalid id", status: 404, request: makeVoidRequest(id, "none") }
  ]
}

/** An invoice can be voided only once, so that every request is for another one. */
export const voidInvoice: Row = {
  name: "POST /invoices/{id}/void",
  method: "POST",
  requests: tenants.withFinalized.invoices.map((invoice) => makeVoidRequest(tenants.withFinalized.id, invoice)),
  rejected: makeRejectedVoids(tenants.withFinalized),
  isSentOnce: true,
  generatedFields: ["id", "invoiceNumber", "updatedAt"]
}

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

const withTaxes = (lines: ReadonlyArray<object>, { taxRates }: SeedTenant) =>
  taxRates.length === 0
    ? lines
    : lines.map((line, n) => ({ ...line, taxRateIds: [taxRates[n % taxRates.length]?.id ?? ""] }))

const makeAddRow = (tenant: SeedTenant): Omit<Row, "name"> => ({
  method: "POST",
  requests: tenant.invoices.map((invoice, n) => makeAddRequest(tenant.id, invoice, withTaxes(makeLines(n), tenant))),
  rejected: makeRejectedAdditions(tenant)
})

export const addLines: Row = {
  name: `POST /billables (${linesPerRequest} lines)`,
  ...makeAddRow(tenants.withDrafts)
}

/** Keeps the invoices well below the maximum number of lines. */
const maxAdditions = 900

/** The same on long invoices. Only the service: what counts is that it costs the same as on short ones. */
const makeLongRow = (tenant: SeedTenant, { name }: Row): Row => {
  const row = makeAddRow(tenant)
  return {
    ...row,
    name: `${name} on an invoice with 10 000 lines`,
    requests: Array.from({ length: maxAdditions }, () => row.requests).flat(),
    isSentOnce: true,
    onlyServer: "service",
    baselineRow: name
  }
}

export const addLinesToLongInvoice = makeLongRow(tenants.withLongDrafts, addLines)

export const addTaxedLines: Row = {
  ...makeAddRow(tenants.withTaxedDrafts),
  name: `POST /billables (${linesPerRequest} lines, 3 tax rates)`,
  onlyServer: "service"
}

export const addTaxedLinesToLongInvoice = makeLongRow(tenants.withTaxedLongDrafts, addTaxedLines)

type Transition = "finalize" | "void"

const makeTransitionRequest = (transition: Transition, tenant: string, invoice: string): RowRequest => ({
  path: `/api/v1/invoices/${invoice}/${transition}`,
  tenant
})

/** An invoice can be finalized or voided only once, so that every request is for another one. */
const makeTransitionRow = (transition: Transition, { id, invoices }: SeedTenant): Row => {
  const requestFor = (invoice: string, tenant = id) => makeTransitionRequest(transition, tenant, invoice)
  const [first = ""] = invoices
  return {
    name: `POST /invoices/{id}/${transition}`,
    method: "POST",
    requests: invoices.map((invoice) => requestFor(invoice)),
    rejected: [
      rejectInForeignTenant(requestFor(first)),
      {
        description: "by a MEMBER",
        status: 403,
        request: requestFor(tenants.withDrafts.invoices[0] ?? "", tenants.withDrafts.id)
      },
      { description: "for the second time", status: 400, request: requestFor(first) },
      {
        description: "for an invoice of a foreign tenant",
        status: 404,
        request: requestFor(tenants.foreign.invoices[0] ?? "")
      },
      { description: "with an invalid id", status: 404, request: requestFor("none") }
    ],
    isSentOnce: true,
    generatedFields: ["id", "invoiceNumber", "issuedAt", "dueAt", "updatedAt"]
  }
}

export const finalizeInvoice = makeTransitionRow("finalize", tenants.toFinalize)

export const voidInvoice = makeTransitionRow("void", tenants.withFinalized)

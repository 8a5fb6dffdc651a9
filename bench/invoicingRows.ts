import { byCallers, inTurns } from "./callerRows.ts"
import { makeBilledReference } from "./invoiceSeed.ts"
import { type RejectedRequest, type Row, type RowRequest, rejectInForeignTenant } from "./row.ts"
import { manyTenants, type SeedTenant, tenants } from "./tenants.ts"

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

const makeRejectedAdditions = ({ caller, id, invoices }: SeedTenant): ReadonlyArray<RejectedRequest> => {
  const [invoice = ""] = invoices
  const with400 = (description: string, invoice: string, ...lines: ReadonlyArray<object>) => ({
    description,
    status: 400,
    request: { ...makeAddRequest(id, invoice, lines), caller }
  })
  return [
    rejectInForeignTenant({ ...makeAddRequest(id, invoice, [validLine]), caller }),
    ...invalidLines.map(([description, line]) => with400(description, invoice, validLine, line)),
    with400("without lines", invoice),
    with400("with a reference that is already billed", invoice, { ...validLine, ...makeBilledReference(invoice) }),
    {
      description: "for an invoice of a foreign tenant",
      status: 404,
      request: { ...makeAddRequest(id, tenants.foreign.invoices[0] ?? "", [validLine]), caller }
    },
    with400("with an invalid id", "none", validLine)
  ]
}

const withTaxes = (lines: ReadonlyArray<object>, { taxRates }: SeedTenant) =>
  taxRates.length === 0
    ? lines
    : lines.map((line, n) => ({ ...line, taxRateIds: [taxRates[n % taxRates.length]?.id ?? ""] }))

const makeAddRow = (tenants: ReadonlyArray<SeedTenant>): Omit<Row, "name"> => ({
  method: "POST",
  requests: inTurns(
    tenants,
    ({ invoices }) => invoices,
    (tenant, invoice, n) => makeAddRequest(tenant.id, invoice, withTaxes(makeLines(n), tenant))
  ),
  rejected: tenants.slice(0, 1).flatMap(makeRejectedAdditions)
})

const name = `POST /billables (${linesPerRequest} lines`

export const addLines = byCallers(`${name})`, makeAddRow, tenants.withDrafts, manyTenants.withData)

/** Keeps the invoices well below the maximum number of lines. */
const maxAdditions = 900

/** The same on long invoices. Only the service: what counts is that it costs the same as on short ones. */
const makeLongRow = (tenant: SeedTenant, name: string): Row => {
  const row = makeAddRow([tenant])
  return {
    ...row,
    name: `${name} on an invoice with 10 000 lines`,
    requests: Array.from({ length: maxAdditions }, () => row.requests).flat(),
    isSentOnce: true,
    references: [],
    baselineRow: name
  }
}

export const addLinesToLongInvoice = makeLongRow(tenants.withLongDrafts, `${name})`)

export const addTaxedLines: Row = {
  ...makeAddRow([tenants.withTaxedDrafts]),
  name: `${name}, 3 tax rates)`,
  references: []
}

export const addTaxedLinesToLongInvoice = makeLongRow(tenants.withTaxedLongDrafts, addTaxedLines.name)

/** An invoice can be finalized or voided only once, so that every request is for another one. */
const makeTransitionRow = (transition: "finalize" | "void", { id, invoices }: SeedTenant): Row => ({
  name: `POST /invoices/{id}/${transition}`,
  method: "POST",
  requests: invoices.map((invoice) => ({ path: `/api/v1/invoices/${invoice}/${transition}`, tenant: id })),
  rejected: [],
  isSentOnce: true,
  references: []
})

export const finalizeInvoice = makeTransitionRow("finalize", tenants.toFinalize)

export const voidInvoice = makeTransitionRow("void", tenants.withFinalized)

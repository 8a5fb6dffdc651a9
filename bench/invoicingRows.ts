import { type Ask, inForeignTenant, type Refusal, type Row } from "./row.ts"
import { billedAlready } from "./seedInvoices.ts"
import { type Tenant, tenants } from "./tenants.ts"

const linesAtOnce = 10

/** Hours, pieces and a discount, some described, one of them without a quantity: as users enter them. */
const kinds = [
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

const linesFrom = (start: number) =>
  Array.from({ length: linesAtOnce }, (_, n) => kinds[n % kinds.length]?.(start + n) ?? {})

const adding = (tenant: string, invoiceId: string, billables: ReadonlyArray<object>): Ask => ({
  path: "/api/v1/billables",
  tenant,
  body: { invoiceId, billables }
})

const plain = { name: "Work", quantity: 1.5, amountMinor: 100 }

/** Lines that break one rule each. */
const wrongLines: ReadonlyArray<readonly [what: string, line: object]> = [
  ["without an amount", { name: "Work" }],
  ["with an amount in fractions", { ...plain, amountMinor: 0.5 }],
  ["with an unknown field", { ...plain, unheardOf: 1 }],
  ["with too long a fraction", { ...plain, quantity: 0.0000000000001 }],
  ["with a total beyond what can be told", { ...plain, quantity: 1_000_000_000, amountMinor: 1_000_000_000 }],
  ["in another currency", { ...plain, currencyCode: "EUR" }],
  ["with half a reference", { ...plain, referenceType: "timesheet" }],
  ["with metadata that is no text", { ...plain, metadata: { cost: 1 } }]
]

const refusedLines = ({ id, invoices }: Tenant): ReadonlyArray<Refusal> => {
  const [invoice = ""] = invoices
  const with400 = (what: string, on: string, ...lines: ReadonlyArray<object>) => ({
    what,
    status: 400,
    ask: adding(id, on, lines)
  })
  return [
    inForeignTenant(adding(id, invoice, [plain])),
    ...wrongLines.map(([what, line]) => with400(what, invoice, plain, line)),
    with400("without lines", invoice),
    with400("with what is billed already", invoice, { ...plain, ...billedAlready(invoice) }),
    {
      what: "for an invoice of a foreign tenant",
      status: 404,
      ask: adding(id, tenants.foreign.invoices[0] ?? "", [plain])
    },
    with400("for what is no identifier", "none", plain)
  ]
}

const addedTo = (tenant: Tenant): Omit<Row, "name"> => ({
  method: "POST",
  asks: tenant.invoices.map((invoice, n) => adding(tenant.id, invoice, linesFrom(n))),
  refusals: refusedLines(tenant)
})

export const addedLines: Row = {
  name: `POST /billables (${linesAtOnce} lines)`,
  ...addedTo(tenants.drafting)
}

/** How often lines are added to a long invoice: it stays well below the most an invoice may have. */
const mostAdditions = 900

const long = addedTo(tenants.draftingLong)

export const addedLinesToLong: Row = {
  ...long,
  name: `${addedLines.name} on an invoice with 10 000 lines`,
  asks: Array.from({ length: mostAdditions }, () => long.asks).flat(),
  once: true,
  only: "service",
  beside: addedLines.name
}

const voiding = (tenant: string, invoice: string): Ask => ({ path: `/api/v1/invoices/${invoice}/void`, tenant })

const refusedVoids = ({ id, invoices }: Tenant): ReadonlyArray<Refusal> => {
  const [first = ""] = invoices
  return [
    inForeignTenant(voiding(id, first)),
    { what: "by a mere member", status: 403, ask: voiding(tenants.drafting.id, tenants.drafting.invoices[0] ?? "") },
    { what: "for the second time", status: 400, ask: voiding(id, first) },
    { what: "for an invoice of a foreign tenant", status: 404, ask: voiding(id, tenants.foreign.invoices[0] ?? "") },
    { what: "for what is no identifier", status: 404, ask: voiding(id, "none") }
  ]
}

/** An invoice is void once and for all, so that each request is about another one. */
export const voids: Row = {
  name: "POST /invoices/{id}/void",
  method: "POST",
  asks: tenants.voiding.invoices.map((invoice) => voiding(tenants.voiding.id, invoice)),
  refusals: refusedVoids(tenants.voiding),
  once: true,
  made: ["id", "invoiceNumber", "updatedAt"]
}

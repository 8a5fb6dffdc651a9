import { AddressId } from "../../src/domain/contracting/Address.ts"
import { ContractId } from "../../src/domain/contracting/Contract.ts"
import { type Billable, BillableId } from "../../src/domain/invoicing/Billable.ts"
import { type Invoice, InvoiceId } from "../../src/domain/invoicing/Invoice.ts"
import type { InvoiceDocument } from "../../src/domain/invoicing/InvoiceDocument.ts"
import type { Parties } from "../../src/domain/invoicing/Parties.ts"
import { lineTotal, sumMinor } from "../../src/domain/money/Money.ts"

const stamps = { createdAt: "2026-03-01T08:00:00.000Z", updatedAt: "2026-03-02T08:00:00.000Z" }
const numbered = { invoiceNumber: "INV-2026-000042", issuedAt: "2026-03-02T08:00:00.000Z" }

export type Address = NonNullable<Parties["client"]["address"]>

export const addressOf = (fields: Partial<Address>): Address => ({
  id: AddressId.make("adr_1"),
  name: "Harbour Works AS",
  address1: "1 Quay",
  city: "Bergen",
  zip: "5003",
  country: "Norway",
  ...stamps,
  ...fields
})

export const usualParties: Parties = {
  tenant: {
    name: "Harbour Works",
    address: addressOf({ registrationNumber: "923 456 789", vatNumber: "NO923456789MVA" })
  },
  client: {
    name: "Northwind",
    address: addressOf({
      name: "Northwind Trading Ltd",
      address1: "12 Long Acre",
      address2: "Second floor",
      city: "London",
      zip: "WC2E 9LH",
      country: "United Kingdom",
      registrationNumber: "04218765",
      vatNumber: "GB123456789"
    })
  },
  contract: { name: "Maintenance of pumping stations" }
}

export const lineOf = (fields: Partial<Billable>): Billable => {
  const { amountMinor = 12_500, quantity = 1 } = fields
  return {
    id: BillableId.make("bil_1"),
    invoice: InvoiceId.make("inv_1"),
    name: "Inspection",
    currencyCode: "EUR",
    ...stamps,
    ...fields,
    amountMinor,
    quantity,
    lineTotalMinor: lineTotal(quantity, amountMinor) ?? 0
  }
}

/** `count` lines of an everyday invoice, no two with the same name, quantity or amount. */
export const everydayLines = (count: number) =>
  Array.from({ length: count }, (_, index) =>
    lineOf({ name: `Inspection of station ${index + 1}`, quantity: index + 1.5, amountMinor: 10_000 + index })
  )

interface Parts {
  readonly lines?: ReadonlyArray<Billable>
  readonly parties?: Parties
  readonly invoice?: Partial<Invoice>
}

/** A document with its totals worked out; finalized unless `invoice` says otherwise. */
export const documentOf = ({ invoice = {}, lines = [lineOf({})], parties = usualParties }: Parts): InvoiceDocument => {
  const total = sumMinor(...lines.map(({ lineTotalMinor }) => lineTotalMinor)) ?? 0
  const isDraft = invoice.status === "DRAFT"
  return {
    invoice: {
      id: InvoiceId.make("inv_1"),
      contract: ContractId.make("ctr_1"),
      status: "FINALIZED",
      currencyCode: "EUR",
      subtotalMinor: total,
      totalMinor: total,
      billableCount: lines.length,
      dueAt: "2026-04-01T08:00:00.000Z",
      ...(isDraft ? {} : numbered),
      ...stamps,
      ...invoice
    },
    lines,
    parties,
    images: {}
  }
}

const longest = Number.MAX_SAFE_INTEGER
const prose =
  "Travel to the site, removal and cleaning of the impeller, replacement of seals and bearings, trial run under load. "

/** Every kind of line that is hard to place. */
const hardLines: ReadonlyArray<Partial<Billable>> = [
  { name: "Hours on site, first half of the month", quantity: 37.5, amountMinor: 9_500 },
  { name: "W".repeat(255), description: "A name without a space, as wide as they come" },
  { name: "Everything there is", quantity: 1, amountMinor: longest },
  { name: "Everything there is, given back", quantity: -1, amountMinor: longest },
  { name: "Metered water", quantity: 1234.123456789012, amountMinor: 3, description: "Read on the last day" },
  { name: "Least of all", quantity: 0.000000000001, amountMinor: longest },
  { name: "Most of all", quantity: longest, amountMinor: 1 },
  { name: "Overhaul", description: prose.repeat(9).slice(0, 1024), referenceType: "ORDER", referenceId: "PO-4711" },
  { name: "Without a break", description: "x".repeat(1024) },
  { name: "One line each", description: Array.from({ length: 512 }, () => "a").join("\n") },
  { name: "Referred to", referenceType: "T".repeat(100), referenceId: "8".repeat(100) },
  { name: "Discount for early order", quantity: -2, amountMinor: 250_075 },
  { name: "Επιθεώρηση αντλιοστασίου", description: "Ελληνικά" },
  { name: "Осмотр насосной станции", description: "Кириллица" },
  { name: "Przegląd stacji pomp, łożyska i śruby", description: "Polski" },
  { name: "泵站检查", description: "中文" },
  { name: "فحص محطة الضخ", description: "العربية" },
  { name: "בדיקת תחנת שאיבה", description: "עברית" },
  { name: "Party 🎉👩‍👩‍👧", description: "🧾 emoji" },
  { name: "Tab\tand\r\nreturn\u0007" }
]

export const hardLinesIn = (currencyCode: string, count: number) =>
  Array.from({ length: count }, (_, index) => lineOf({ currencyCode, ...hardLines[index % hardLines.length] }))

/** Every field of both sides as long as it can be. */
export const longestParties = (words: boolean): Parties => {
  const fill = (length: number) => (words ? prose.repeat(3) : "M".repeat(length)).slice(0, length)
  const address = addressOf({
    name: fill(200),
    address1: fill(200),
    address2: fill(200),
    region: fill(100),
    country: fill(100),
    city: fill(100),
    zip: fill(20),
    registrationNumber: fill(100),
    vatNumber: fill(100)
  })
  return { tenant: { name: fill(199), address }, client: { name: fill(199), address }, contract: { name: fill(200) } }
}

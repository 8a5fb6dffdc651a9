import { Either } from "effect"
import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { ClientId } from "../../../src/domain/contracting/Client.ts"
import { documentTexts } from "../../../src/domain/invoicing/document/DocumentTexts.ts"
import type { Language } from "../../../src/domain/locale/Language.ts"
import {
  type BookedEntry,
  maxStatementEntries,
  requireStatementLength,
  toCurrencyStatements,
  toStatementRows
} from "../../../src/domain/reports/Statement.ts"
import { describeEntry } from "../../../src/domain/reports/StatementDocument.ts"

const entryOf = (currencyCode: string, amountMinor: number, fields: Partial<BookedEntry> = {}): BookedEntry => ({
  currencyCode,
  bookedAt: "2026-11-14T23:30:00.000Z",
  kind: "INVOICE",
  documentNumber: null,
  invoice: null,
  payment: null,
  creditNote: null,
  amountMinor,
  ...fields
})

const period = {
  from: "2026-11-01",
  to: "2026-11-30",
  start: "2026-11-01T00:00:00.000Z",
  end: "2026-12-01T00:00:00.000Z"
}

describe("toCurrencyStatements", () => {
  it("adds up each currency from its opening balance", () => {
    const currencies = ["EUR", "JPY", "USD"]
    const anyAmount = fc.integer({ min: -1_000_000, max: 1_000_000 })
    const anyEntries = fc.array(fc.tuple(fc.constantFrom(...currencies), anyAmount))
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...currencies), anyAmount), anyEntries, (opened, booked) => {
        const openings = Object.entries(opened).map(([currencyCode, openingMinor]) => ({ currencyCode, openingMinor }))
        const entries = booked.map(([currencyCode, amountMinor]) => entryOf(currencyCode, amountMinor))
        for (const { closingMinor, currencyCode, entries: lines, openingMinor } of toCurrencyStatements(
          openings,
          entries,
          "UTC"
        )) {
          const amounts = booked.filter(([code]) => code === currencyCode).map(([, amount]) => amount)
          const balances = amounts.map((_, index) => amounts.slice(0, index + 1).reduce((a, b) => a + b, openingMinor))
          assert.strictEqual(openingMinor, opened[currencyCode] ?? 0)
          assert.deepStrictEqual(
            lines.map(({ amountMinor }) => amountMinor),
            amounts
          )
          assert.deepStrictEqual(
            lines.map(({ balanceMinor }) => balanceMinor),
            balances
          )
          assert.strictEqual(closingMinor, balances.at(-1) ?? openingMinor)
        }
      })
    )
  })

  it("leaves out currencies without a balance and without entries, and sorts the others", () => {
    const openings = [
      { currencyCode: "USD", openingMinor: 5 },
      { currencyCode: "CHF", openingMinor: 0 }
    ]
    const codes = toCurrencyStatements(openings, [entryOf("EUR", 0)], "UTC").map(({ currencyCode }) => currencyCode)
    assert.deepStrictEqual(codes, ["EUR", "USD"])
  })

  it("names the day in the time zone of the tenant", () => {
    const [berlin] = toCurrencyStatements([], [entryOf("EUR", 1)], "Europe/Berlin")
    assert.strictEqual(berlin?.entries[0]?.day, "2026-11-15")
  })
})

describe("toStatementRows", () => {
  it("has the opening balance, the entries and the closing balance of each currency", () => {
    const currencies = toCurrencyStatements([{ currencyCode: "EUR", openingMinor: 5 }], [entryOf("EUR", -7)], "UTC")
    const rows = toStatementRows({ client: ClientId.make("clnt_1"), from: period.from, to: period.to, currencies })
    assert.deepStrictEqual(rows, [
      { currencyCode: "EUR", day: "2026-11-01", kind: "OPENING", balanceMinor: 5 },
      {
        currencyCode: "EUR",
        bookedAt: "2026-11-14T23:30:00.000Z",
        day: "2026-11-14",
        kind: "INVOICE",
        amountMinor: -7,
        balanceMinor: -2
      },
      { currencyCode: "EUR", day: "2026-11-30", kind: "CLOSING", balanceMinor: -2 }
    ])
  })
})

describe("requireStatementLength", () => {
  it("rejects one entry too many, and says to choose a later day", () => {
    assert.isTrue(Either.isRight(requireStatementLength(maxStatementEntries, period)))
    const rejected = requireStatementLength(maxStatementEntries + 1, period)
    assert.deepStrictEqual(Either.isLeft(rejected) ? rejected.left.details : [], [
      {
        field: "from",
        constraint: "maxItems",
        message: `starts a period with more than ${maxStatementEntries} entries: "2026-11-01" is too early`
      }
    ])
  })
})

describe("describeEntry", () => {
  it("says what a reversal takes back", () => {
    const [statement] = toCurrencyStatements(
      [],
      [
        entryOf("EUR", 1, { kind: "REVERSAL", payment: "pay_1", documentNumber: "Transfer" }),
        entryOf("EUR", 1, { kind: "REVERSAL", invoice: "inv_1", documentNumber: "N-1" }),
        entryOf("EUR", -1, { kind: "PAYMENT", payment: "pay_1" })
      ],
      "UTC"
    )
    const describeIn = (language: Language) =>
      statement?.entries.map((entry) => describeEntry(entry, documentTexts[language]))
    assert.deepStrictEqual(describeIn("en"), ["Reversed payment Transfer", "Reversed write-off N-1", "Payment"])
    assert.deepStrictEqual(describeIn("de"), ["Stornierte Zahlung Transfer", "Stornierte Ausbuchung N-1", "Zahlung"])
  })
})

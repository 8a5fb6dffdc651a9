import type pg from "pg"
import { localDateOf } from "../../../src/domain/locale/TimeZone.ts"

interface Entry {
  readonly id: number
  readonly kind: string
  readonly bookedAt: string
  readonly day: string
  readonly client: string
  readonly currencyCode: string
  readonly invoice: string | null
  readonly invoiceMinor: number
  readonly payment: string | null
  readonly creditNote: string | null
  readonly creditMinor: number
  readonly balanceMinor: number | null
  readonly place: number | null
  readonly reference: string | null
}

interface BookedRow {
  readonly id: string
  readonly number: string
  readonly netMinor: number
  readonly taxMinor: number
  readonly totalMinor: number
  readonly taxes: ReadonlyArray<{
    readonly name: string
    readonly category?: string
    readonly percent: number
    readonly baseMinor: number
    readonly taxMinor: number
  }>
}

interface InvoiceRow extends BookedRow {
  readonly dueDay: string
}

const sum = (amounts: ReadonlyArray<number>) => amounts.reduce((total, amount) => total + amount, 0)

const keyed = <A>(items: ReadonlyArray<A>, keyOf: (item: A) => string) => {
  const groups = new Map<string, Array<A>>()
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item])
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1))
}

const daysBetween = (from: string, to: string) => (Date.parse(to) - Date.parse(from)) / 86_400_000

const ageFields = ["notDueMinor", "days1To30Minor", "days31To60Minor", "days61To90Minor", "over90Minor"] as const
const ageOf = (days: number) => (days <= 0 ? 0 : days <= 30 ? 1 : days <= 60 ? 2 : days <= 90 ? 3 : 4)

/** Calculates the reports of a tenant from the rows of its journal, entry by entry. */
export const readExpectedReports = async (pool: pg.Pool, tenant: string, timeZone: string) => {
  const entries = (
    await pool.query(
      `select entry.id::int, kind, booked_at, entry.client_id as client, entry.currency_code as "currencyCode",
         invoice_id as invoice, invoice_minor::int as "invoiceMinor", payment_id as payment,
         credit_note_id as "creditNote",
         credit_minor::int as "creditMinor", balance_minor::int as "balanceMinor", invoice_place as place, reference
       from journal_entries entry left join payments on payments.tenant_id = entry.tenant_id and payments.id = payment_id
       where entry.tenant_id = $1 order by booked_at, entry.id`,
      [tenant]
    )
  ).rows.map(({ booked_at: at, ...row }): Entry => {
    const bookedAt = new Date(at).toISOString()
    return { ...row, bookedAt, day: localDateOf(bookedAt, timeZone) }
  })
  const invoices = new Map(
    (
      await pool.query(
        `select id, invoice_number as number, due_at, (subtotal_minor - discount_minor)::int as "netMinor",
           tax_minor::int as "taxMinor", total_minor::int as "totalMinor", taxes
         from invoices where tenant_id = $1 and issued_at is not null`,
        [tenant]
      )
    ).rows.map(({ due_at: dueAt, ...row }): [string, InvoiceRow] => [
      row.id,
      { ...row, dueDay: localDateOf(new Date(dueAt).toISOString(), timeZone) }
    ])
  )
  const notes = new Map(
    (
      await pool.query(
        `select id, credit_note_number as number, (subtotal_minor - discount_minor)::int as "netMinor",
           tax_minor::int as "taxMinor", total_minor::int as "totalMinor", taxes
         from credit_notes where tenant_id = $1 and status = 'FINALIZED'`,
        [tenant]
      )
    ).rows.map((row): [string, BookedRow] => [row.id, row])
  )
  const within = (from: string, to: string) => entries.filter(({ day }) => from <= day && day <= to)

  const statement = (client: string, from: string, to: string) => {
    const own = entries.filter((entry) => entry.client === client && entry.day <= to)
    const currencies = keyed(own, ({ currencyCode }) => currencyCode).map(([currencyCode, booked]) => {
      const balanceAfter = (count: number) =>
        sum(booked.slice(0, count).map(({ creditMinor, invoiceMinor }) => invoiceMinor - creditMinor))
      const shown = booked.flatMap((entry, index) =>
        entry.day < from || (entry.invoice !== null && (entry.payment ?? entry.creditNote) !== null)
          ? []
          : [
              {
                bookedAt: entry.bookedAt,
                day: entry.day,
                kind: entry.kind,
                documentNumber:
                  invoices.get(entry.invoice ?? "")?.number ??
                  notes.get(entry.creditNote ?? "")?.number ??
                  entry.reference ??
                  undefined,
                invoice: entry.invoice ?? undefined,
                payment: entry.payment ?? undefined,
                creditNote: entry.creditNote ?? undefined,
                amountMinor: entry.invoiceMinor - entry.creditMinor,
                balanceMinor: balanceAfter(index + 1)
              }
            ]
      )
      const openingMinor = balanceAfter(booked.filter(({ day }) => day < from).length)
      return { currencyCode, openingMinor, entries: shown, closingMinor: balanceAfter(booked.length) }
    })
    const shown = currencies.filter(({ entries, openingMinor }) => entries.length > 0 || openingMinor !== 0)
    return JSON.parse(JSON.stringify({ client, from, to, currencies: shown }))
  }

  const agingOf = (booked: ReadonlyArray<Entry>, asOf: string) => {
    const amounts = [0, 0, 0, 0, 0]
    for (const [id, ofInvoice] of keyed(
      booked.filter(({ invoice }) => invoice !== null),
      ({ invoice }) => invoice ?? ""
    )) {
      const last = ofInvoice.reduce((a, b) => ((a.place ?? 0) > (b.place ?? 0) ? a : b))
      const age = ageOf(daysBetween(invoices.get(id)?.dueDay ?? "", asOf))
      amounts[age] = (amounts[age] ?? 0) + (last.balanceMinor ?? 0)
    }
    return {
      ...Object.fromEntries(ageFields.map((field, index) => [field, amounts[index]])),
      openMinor: sum(amounts),
      unusedMinor: sum(booked.map(({ creditMinor }) => creditMinor))
    }
  }
  const hasAmounts = ({ openMinor, unusedMinor }: { readonly openMinor: number; readonly unusedMinor: number }) =>
    openMinor !== 0 || unusedMinor !== 0

  const aging = (asOf: string) =>
    keyed(within("", asOf), ({ client, currencyCode }) => `${client} ${currencyCode}`).flatMap(([key, booked]) => {
      const [client, currencyCode] = key.split(" ")
      const amounts = agingOf(booked, asOf)
      return hasAmounts(amounts) ? [{ client, asOf, currencyCode, ...amounts }] : []
    })
  const agingTotals = (asOf: string) =>
    keyed(within("", asOf), ({ currencyCode }) => currencyCode).flatMap(([currencyCode, booked]) => {
      const amounts = agingOf(booked, asOf)
      return hasAmounts(amounts) ? [{ asOf, currencyCode, ...amounts }] : []
    })

  const documents = (from: string, to: string) =>
    within(from, to).flatMap((entry) => {
      const document =
        entry.kind === "CREDIT_NOTE" ? notes.get(entry.creditNote ?? "") : invoices.get(entry.invoice ?? "")
      if (document === undefined || !["INVOICE", "VOID", "CREDIT_NOTE"].includes(entry.kind)) return []
      return [{ ...entry, invoice: document, sign: entry.kind === "INVOICE" ? 1 : -1 }]
    })
  type Document = ReturnType<typeof documents>[number]
  const revenueOf = (booked: ReadonlyArray<Document>) => {
    const netOf = (kind: string) =>
      sum(booked.map((document) => (document.kind === kind ? document.sign * document.invoice.netMinor : 0)))
    return {
      invoicedMinor: netOf("INVOICE"),
      voidedMinor: netOf("VOID"),
      creditedMinor: netOf("CREDIT_NOTE"),
      netMinor: netOf("INVOICE") + netOf("VOID") + netOf("CREDIT_NOTE"),
      taxMinor: sum(booked.map(({ invoice, sign }) => sign * invoice.taxMinor)),
      grossMinor: sum(booked.map(({ invoice, sign }) => sign * invoice.totalMinor))
    }
  }
  const revenueBy = (from: string, to: string, names: ReadonlyArray<string>, keyOf: (document: Document) => string) =>
    keyed(documents(from, to), keyOf).map(([key, booked]) => ({
      ...Object.fromEntries(key.split(" ").map((value, index) => [names[index], value])),
      ...revenueOf(booked)
    }))

  const taxes = (from: string, to: string) => {
    const items = documents(from, to).flatMap(({ currencyCode, invoice, kind, sign }) =>
      invoice.taxes.map((tax) => ({ ...tax, currencyCode, kind, base: sign * tax.baseMinor, tax: sign * tax.taxMinor }))
    )
    const rankOf = ({ category }: { readonly category?: string }) => (category === undefined ? 1 : 0)
    return keyed(
      items,
      (item) => `${item.currencyCode} ${rankOf(item)} ${item.category ?? item.name} ${100 - item.percent}`
    ).map(([, group]) => {
      const ofKind = (kind: string) => group.filter((item) => item.kind === kind)
      const [first] = group
      return {
        currencyCode: first?.currencyCode,
        ...(first?.category === undefined ? {} : { category: first.category }),
        name: group.map(({ name }) => name).sort()[0],
        percent: first?.percent,
        invoicedBaseMinor: sum(ofKind("INVOICE").map(({ base }) => base)),
        invoicedTaxMinor: sum(ofKind("INVOICE").map(({ tax }) => tax)),
        voidedBaseMinor: sum(ofKind("VOID").map(({ base }) => base)),
        voidedTaxMinor: sum(ofKind("VOID").map(({ tax }) => tax)),
        creditedBaseMinor: sum(ofKind("CREDIT_NOTE").map(({ base }) => base)),
        creditedTaxMinor: sum(ofKind("CREDIT_NOTE").map(({ tax }) => tax)),
        baseMinor: sum(group.map(({ base }) => base)),
        taxMinor: sum(group.map(({ tax }) => tax))
      }
    })
  }

  return {
    statement,
    aging,
    agingTotals,
    revenue: (from: string, to: string) => revenueBy(from, to, ["currencyCode"], ({ currencyCode }) => currencyCode),
    revenueByMonth: (from: string, to: string) =>
      revenueBy(from, to, ["month", "currencyCode"], ({ currencyCode, day }) => `${day.slice(0, 7)} ${currencyCode}`),
    revenueByClient: (from: string, to: string) =>
      revenueBy(from, to, ["client", "currencyCode"], ({ client, currencyCode }) => `${client} ${currencyCode}`),
    taxes
  }
}

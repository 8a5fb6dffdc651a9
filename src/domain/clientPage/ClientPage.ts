import type { Billable } from "../invoicing/Billable.ts"
import type { Parties } from "../invoicing/document/Parties.ts"
import { balanceOf, type Invoice } from "../invoicing/Invoice.ts"
import { defaultLanguage, type Language } from "../locale/Language.ts"
import { formatLocalAmount, formatLocalDate, formatLocalMoney, formatLocalNumber } from "../locale/LocaleFormat.ts"
import { defaultTimeZone } from "../locale/TimeZone.ts"
import type { BankAccount } from "../money/BankAccount.ts"
import { formatIban } from "../money/IbanFormat.ts"
import type { BillingContact } from "../tenancy/BillingContact.ts"
import { epcPayloadOf } from "./EpcPayload.ts"
import { isPayable, type PageStatus, pageStatusOf } from "./PageStatus.ts"
import { type PageTexts, pageTexts } from "./PageTexts.ts"

/** The most lines and credit notes on a page. The PDF has all lines. */
export const maxPageLines = 100
export const maxPageCreditNotes = 50

export interface PageCreditNote {
  readonly number: string
  readonly issuedAt: string
  readonly totalMinor: number
}

/** What the page is made of. */
export interface PageSource {
  readonly invoice: Invoice
  /** As of the issue of the invoice. */
  readonly parties: Parties
  /** The first lines of the invoice. */
  readonly lines: ReadonlyArray<Billable>
  /** The first finalized credit notes on the invoice. */
  readonly creditNotes: ReadonlyArray<PageCreditNote>
  /** The number and the sum of all of them. */
  readonly creditNoteCount: number
  readonly creditNotesMinor: number
  /** Of the tenant now, for an invoice that was issued without one. */
  readonly currentAccount: BankAccount | undefined
  readonly hasLogo: boolean
}

/** A label with its value. */
export interface Term {
  readonly label: string
  readonly value: string
}

export interface PartyBlock {
  readonly title: string
  readonly name: string
  readonly lines: ReadonlyArray<string>
}

export interface PageLine {
  readonly name: string
  readonly details: ReadonlyArray<string>
  readonly quantity: string
  readonly unitPrice: string
  readonly amount: string
}

export interface TotalRow extends Term {
  readonly detail?: string
  readonly isSum?: boolean
}

export interface PaymentBlock {
  readonly terms: ReadonlyArray<Term>
  readonly advice: string
  readonly qr?: { readonly payload: string; readonly alternative: string }
}

/** Everything that the page shows, in the language of the client. */
export interface ClientPage {
  readonly language: Language
  readonly texts: PageTexts
  readonly number: string
  readonly status: PageStatus
  readonly sentence: string
  readonly issuer: PartyBlock
  readonly recipient: PartyBlock
  readonly terms: ReadonlyArray<Term>
  readonly lines: ReadonlyArray<PageLine>
  readonly hiddenLines: string | undefined
  readonly totals: ReadonlyArray<TotalRow>
  readonly exemptions: ReadonlyArray<string>
  readonly notes: string | undefined
  readonly creditNotes: ReadonlyArray<{ readonly number: string; readonly date: string; readonly amount: string }>
  readonly hasMoreCreditNotes: boolean
  /** Only of an invoice that is to be paid. */
  readonly payment: PaymentBlock | undefined
  readonly contact: BillingContact | undefined
  readonly hasLogo: boolean
}

/** How the page writes values: by the language of the client, the currency and the time zone of the tenant. */
interface Format {
  readonly texts: PageTexts
  readonly amount: (amountMinor: number) => string
  readonly money: (amountMinor: number) => string
  readonly number: (value: number) => string
  readonly percent: (value: number) => string
  readonly date: (timestamp: string) => string
  /** A day without a time, which has no time zone. */
  readonly day: (day: string) => string
}

const makeFormat = (language: Language, currencyCode: string, timeZone: string): Format => {
  const number = (value: number) => formatLocalNumber(value, language)
  return {
    texts: pageTexts[language],
    amount: (amountMinor) => formatLocalAmount(amountMinor, currencyCode, language),
    money: (amountMinor) => formatLocalMoney(amountMinor, currencyCode, language),
    number,
    percent: (value) => `${number(value)}\u00a0%`,
    date: (timestamp) => formatLocalDate(timestamp, timeZone, language),
    day: (day) => formatLocalDate(day, "UTC", language)
  }
}

const term = (label: string, value: string | undefined): ReadonlyArray<Term> =>
  value === undefined ? [] : [{ label, value }]

const withoutEmpty = (texts: ReadonlyArray<string | undefined>) => texts.flatMap((text) => text || [])

const partyOf = (title: string, { address, name }: Parties["client"], { texts }: Format): PartyBlock => {
  if (address === undefined) return { title, name, lines: [] }
  const numbered = (label: string, number: string | undefined) => (number ? `${label} ${number}` : undefined)
  const lines = [
    address.name === name ? undefined : name,
    address.address1,
    address.address2,
    `${address.zip} ${address.city}`,
    address.region,
    address.country,
    numbered(texts.registrationNumber, address.registrationNumber),
    numbered(texts.vatNumber, address.vatNumber),
    numbered(texts.taxNumber, address.taxNumber)
  ]
  return { title, name: address.name, lines: withoutEmpty(lines) }
}

const servicePeriodOf = ({ serviceFrom, serviceTo }: Invoice, { day }: Format) => {
  const days = [serviceFrom, serviceTo].flatMap((given) => (given === undefined ? [] : [day(given)]))
  return days.length === 0 ? undefined : days.join(" – ")
}

const termsOf = (invoice: Invoice, { contract }: Parties, format: Format): ReadonlyArray<Term> => {
  const { date, texts } = format
  const dateOf = (timestamp: string | undefined) => (timestamp === undefined ? undefined : date(timestamp))
  return [
    ...term(texts.issueDate, dateOf(invoice.issuedAt)),
    ...term(texts.dueDate, dateOf(invoice.dueAt)),
    ...term(texts.servicePeriod, servicePeriodOf(invoice, format)),
    ...term(texts.contract, contract.name),
    ...term(texts.purchaseOrder, invoice.purchaseOrder),
    ...term(texts.buyerReference, invoice.buyerReference)
  ]
}

const discountLabel = ({ discount, discountReason }: Pick<Invoice, "discount" | "discountReason">, format: Format) => {
  const share = discount?.percent === undefined ? "" : ` ${format.percent(discount.percent)}`
  return `${format.texts.discount}${share}${discountReason === undefined ? "" : ` (${discountReason})`}`
}

/** The taxes of a line, on an invoice of which not all lines need have the same. */
const taxesOf = ({ taxRates }: Billable, { taxes }: Invoice, { texts }: Format) => {
  if (taxes.length < 2) return undefined
  const names = taxes.filter((tax) => taxRates.some((id) => tax.taxRates.includes(id))).map(({ name }) => name)
  return names.length === 0 ? texts.noTax : names.join(", ")
}

const lineOf = (line: Billable, invoice: Invoice, format: Format): PageLine => {
  const { amountMinor, description, discount, discountMinor, lineTotalMinor, name, quantity } = line
  const granted =
    discount === undefined ? undefined : `${discountLabel(line, format)}: ${format.amount(-discountMinor)}`
  const details = [description, granted, taxesOf(line, invoice, format)]
  return {
    name,
    details: withoutEmpty(details),
    quantity: format.number(quantity),
    unitPrice: format.amount(amountMinor),
    amount: format.amount(lineTotalMinor)
  }
}

const totalsOf = (invoice: Invoice, format: Format): ReadonlyArray<TotalRow> => {
  const { amount, money, percent, texts } = format
  const { creditedMinor, discount, discountMinor, paidMinor, subtotalMinor, taxes, totalMinor, writtenOffMinor } =
    invoice
  const settled = (label: string, settledMinor: number) =>
    settledMinor === 0 ? [] : term(label, amount(-settledMinor))
  return [
    ...term(texts.subtotal, amount(subtotalMinor)),
    ...(discount === undefined ? [] : term(discountLabel(invoice, format), amount(-discountMinor))),
    ...taxes.map((tax) => ({
      label: tax.name,
      detail: texts.taxOf(percent(tax.percent), amount(tax.baseMinor)),
      value: amount(tax.taxMinor)
    })),
    { label: texts.total, value: money(totalMinor), isSum: true },
    ...settled(texts.paid, paidMinor),
    ...settled(texts.credited, creditedMinor),
    ...settled(texts.adjusted, writtenOffMinor),
    ...(paidMinor + creditedMinor + writtenOffMinor === 0
      ? []
      : [{ label: texts.open, value: money(balanceOf(invoice)), isSum: true }])
  ]
}

const paymentOf = ({ currentAccount, invoice, parties }: PageSource, { money, texts }: Format): PaymentBlock => {
  const { invoiceNumber: reference = "" } = invoice
  const account = parties.tenant.bankAccount ?? currentAccount
  if (account === undefined) return { terms: [], advice: texts.noAccount(parties.tenant.name) }
  const amountMinor = balanceOf(invoice)
  const iban = formatIban(account.iban)
  const payload = epcPayloadOf({ account, amountMinor, currencyCode: invoice.currencyCode, reference })
  return {
    terms: [
      ...term(texts.amount, money(amountMinor)),
      ...term(texts.accountHolder, account.name),
      ...term("IBAN", iban),
      ...term("BIC", account.bic),
      ...term(texts.reference, reference)
    ],
    advice: texts.compare(parties.tenant.name),
    ...(payload === undefined
      ? {}
      : { qr: { payload, alternative: texts.qrAlternative(money(amountMinor), iban, reference) } })
  }
}

/** The page of an issued invoice at a time. */
export const toClientPage = (source: PageSource, now: string): ClientPage => {
  const { creditNoteCount, creditNotesMinor, hasLogo, invoice, parties } = source
  const { client, tenant } = parties
  const { language = defaultLanguage } = client
  const { timeZone = defaultTimeZone } = tenant
  const format = makeFormat(language, invoice.currencyCode, timeZone)
  const { date, money, number, texts } = format
  const status = pageStatusOf({ ...invoice, creditNotesMinor }, now, timeZone)
  const dueDate = invoice.dueAt === undefined ? undefined : date(invoice.dueAt)
  const lines = source.lines.slice(0, maxPageLines)
  const creditNotes = source.creditNotes.slice(0, maxPageCreditNotes)
  return {
    language,
    texts,
    number: invoice.invoiceNumber ?? "",
    status,
    sentence: texts.sentence[status]({ amount: money(balanceOf(invoice)), dueDate }),
    issuer: partyOf(texts.from, tenant, format),
    recipient: partyOf(texts.to, client, format),
    terms: termsOf(invoice, parties, format),
    lines: lines.map((line) => lineOf(line, invoice, format)),
    hiddenLines:
      lines.length < invoice.billableCount
        ? texts.hiddenLines(number(lines.length), number(invoice.billableCount))
        : undefined,
    totals: totalsOf(invoice, format),
    exemptions: invoice.taxes.flatMap(({ exemptionReason }) => exemptionReason ?? []),
    notes: invoice.notes,
    creditNotes: creditNotes.map((note) => ({
      number: note.number,
      date: date(note.issuedAt),
      amount: money(note.totalMinor)
    })),
    hasMoreCreditNotes: creditNotes.length < creditNoteCount,
    payment: isPayable(status) ? paymentOf(source, format) : undefined,
    contact: tenant.billingContact,
    hasLogo
  }
}

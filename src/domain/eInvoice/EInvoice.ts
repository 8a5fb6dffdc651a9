import type { VatCategory } from "../money/InvoiceArithmetic.ts"

/**
 * The core invoice of EN 16931, free of any syntax. BT and BG are the numbers of the standard's terms and groups.
 * Amounts are whole minor units of a currency with two decimals, and dates are days such as 2026-11-14.
 */

/** BT-24: the core of the standard, without national rules. */
export const specificationId = "urn:cen.eu:en16931:2017"

/** UNTDID 1001: a commercial invoice, or a credit note. */
export type TypeCode = "380" | "381"

/** An electronic address and the code of its scheme (EAS). */
export interface ElectronicAddress {
  readonly scheme: string
  readonly value: string
}

/** BG-5 and BG-8. */
export interface PostalAddress {
  readonly line1?: string | undefined
  readonly line2?: string | undefined
  readonly city?: string | undefined
  readonly postCode?: string | undefined
  readonly region?: string | undefined
  /** BT-40, BT-55 */
  readonly countryCode?: string | undefined
}

/** The seller (BG-4) or the buyer (BG-7). */
export interface Party {
  /** BT-27, BT-44 */
  readonly name?: string | undefined
  /** BT-28, BT-45 */
  readonly tradingName?: string | undefined
  readonly address?: PostalAddress | undefined
  /** BT-30, BT-47 */
  readonly registrationNumber?: string | undefined
  /** BT-31, BT-48 */
  readonly vatNumber?: string | undefined
  /** BT-32. A buyer has none. */
  readonly taxNumber?: string | undefined
  /** BT-34, BT-49 */
  readonly electronicAddress?: ElectronicAddress | undefined
  /** BG-6 */
  readonly contact?: Contact | undefined
}

export interface Contact {
  readonly name?: string | undefined
  readonly phone?: string | undefined
  readonly email?: string | undefined
}

/** A VAT category and its rate. */
export interface Vat {
  readonly category: VatCategory
  readonly percent: number
}

/** An allowance (BG-20, BG-27) or a charge (BG-21, BG-28). Its amount is positive. */
export interface AllowanceCharge {
  readonly isCharge: boolean
  readonly amountMinor: number
  readonly reason?: string | undefined
  readonly reasonCode?: string | undefined
}

export interface DocumentAllowanceCharge extends AllowanceCharge {
  readonly vat: Vat
}

/** BG-25 */
export interface Line {
  /** BT-126 */
  readonly id: string
  /** BT-153 */
  readonly name?: string | undefined
  /** BT-154 */
  readonly description?: string | undefined
  /** BT-129, an exact decimal */
  readonly quantity: string
  /** BT-130 */
  readonly unitCode: string
  /** BT-146 */
  readonly priceMinor: number
  readonly allowances: ReadonlyArray<AllowanceCharge>
  /** BT-131 */
  readonly netMinor: number
  /** BT-151 and BT-152. Undefined for a line without a VAT category. */
  readonly vat?: Vat | undefined
  /** Names of taxes of the line that are not VAT, which the standard cannot express. */
  readonly otherTaxes: ReadonlyArray<string>
}

/** BG-23 */
export interface VatBreakdown extends Vat {
  /** BT-116 */
  readonly baseMinor: number
  /** BT-117 */
  readonly taxMinor: number
  /** BT-120 */
  readonly exemptionReason?: string | undefined
  /** BT-121 */
  readonly exemptionCode?: string | undefined
}

/** BG-22 */
export interface Totals {
  /** BT-106 */
  readonly linesMinor: number
  /** BT-107 */
  readonly allowancesMinor: number
  /** BT-108 */
  readonly chargesMinor: number
  /** BT-109 */
  readonly netMinor: number
  /** BT-110 */
  readonly taxMinor: number
  /** BT-112 */
  readonly grossMinor: number
  /** BT-113 */
  readonly paidMinor: number
  /** BT-115 */
  readonly dueMinor: number
}

/** BG-16 and BG-17 */
export interface CreditTransfer {
  /** BT-81 */
  readonly typeCode: string
  /** BT-83 */
  readonly reference?: string | undefined
  /** BT-84 */
  readonly iban: string
  /** BT-85 */
  readonly accountName: string
  /** BT-86 */
  readonly bic?: string | undefined
}

/** BG-14 */
export interface Period {
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/** The currency of the VAT return, if it is another one. */
export interface TaxCurrency {
  /** BT-6 */
  readonly code: string
  /** BT-111. Undefined without a rate. */
  readonly taxMinor?: number | undefined
}

export interface EInvoice {
  /** BT-3 */
  readonly typeCode: TypeCode
  /** A draft has no number and no dates yet. */
  readonly isDraft: boolean
  /** BT-1 */
  readonly number?: string | undefined
  /** BT-2 */
  readonly issueDate?: string | undefined
  /** BT-5 */
  readonly currencyCode: string
  readonly taxCurrency?: TaxCurrency | undefined
  /** BT-9 */
  readonly dueDate?: string | undefined
  /** BT-20 */
  readonly paymentTerms?: string | undefined
  /** BT-10 */
  readonly buyerReference?: string | undefined
  /** BT-13 */
  readonly purchaseOrder?: string | undefined
  /** BT-22 */
  readonly note?: string | undefined
  /** BG-3: number and date of the credited invoice */
  readonly precedingInvoice?: { readonly number?: string | undefined; readonly issueDate?: string | undefined }
  readonly seller: Party
  readonly buyer: Party
  readonly period?: Period | undefined
  /** BT-80 */
  readonly deliverToCountry?: string | undefined
  readonly payment?: CreditTransfer | undefined
  readonly allowances: ReadonlyArray<DocumentAllowanceCharge>
  readonly totals: Totals
  readonly vatBreakdown: ReadonlyArray<VatBreakdown>
  readonly lines: ReadonlyArray<Line>
}

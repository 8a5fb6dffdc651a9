import type { CreditNote } from "../creditNotes/CreditNote.ts"
import type { DocumentLine } from "../invoicing/document/InvoiceDocument.ts"
import type { Parties } from "../invoicing/document/Parties.ts"
import type { Invoice } from "../invoicing/Invoice.ts"
import type { Contact, ElectronicAddress } from "./EInvoice.ts"

/** What an e-invoice is made of: the content of an invoice, or of a credit note on it. */

type Address = NonNullable<Parties["client"]["address"]>

type AddressFields = Pick<
  Address,
  "name" | "address1" | "address2" | "region" | "city" | "zip" | "registrationNumber" | "vatNumber"
>

export interface SourceAddress extends AddressFields {
  readonly countryCode?: string
  readonly taxNumber?: string
  readonly electronicAddress?: ElectronicAddress
}

export interface SourceParty {
  readonly name: string
  readonly address?: SourceAddress
}

export interface SourceParties {
  readonly tenant: SourceParty &
    Pick<Parties["tenant"], "timeZone" | "bankAccount"> & { readonly billingContact?: Contact }
  readonly client: SourceParty
}

type InvoiceFields = Pick<
  Invoice,
  | "status"
  | "invoiceNumber"
  | "issuedAt"
  | "dueAt"
  | "currencyCode"
  | "discountReason"
  | "subtotalMinor"
  | "discountMinor"
  | "taxes"
  | "taxMinor"
  | "totalMinor"
>

export interface SourceInvoice extends InvoiceFields {
  readonly buyerReference?: string
  readonly purchaseOrder?: string
  readonly notes?: string
  readonly serviceFrom?: string
  readonly serviceTo?: string
  readonly deliverToCountry?: string
  readonly taxCurrencyCode?: string
  /** What one unit of the invoice's currency is in the tax currency. */
  readonly taxCurrencyRate?: number
}

export type SourceCreditNote = Pick<
  CreditNote,
  | "status"
  | "creditNoteNumber"
  | "issuedAt"
  | "reason"
  | "subtotalMinor"
  | "discountMinor"
  | "taxes"
  | "taxMinor"
  | "totalMinor"
>

type LineFields = Pick<
  DocumentLine,
  "name" | "description" | "quantity" | "amountMinor" | "discountReason" | "lineTotalMinor" | "showsQuantity"
>

export interface SourceLine extends LineFields {
  readonly taxRates: ReadonlyArray<string>
  readonly unitCode?: string
}

export interface EInvoiceSource {
  readonly invoice: SourceInvoice
  readonly creditNote?: SourceCreditNote
  readonly lines: ReadonlyArray<SourceLine>
  readonly parties: SourceParties
}

import type { Caller } from "./caller.ts"
import { newId } from "./ids.ts"

export interface CreditLine {
  readonly billable: string
  readonly quantity?: number
  readonly amountMinor: number
}

interface Allocation {
  readonly invoice: string
  readonly amountMinor: number
}

/** A row of a credit note with the sequence of its last event. */
export interface CreditNoteRow {
  readonly id: string
  readonly invoice: string
  readonly client: string
  readonly status: string
  readonly creditNoteNumber: string | null
  readonly currencyCode: string
  readonly reason: string
  readonly full: boolean
  readonly lines: ReadonlyArray<CreditLine>
  readonly subtotalMinor: number
  readonly discountMinor: number
  readonly taxes: ReadonlyArray<object>
  readonly taxMinor: number
  readonly totalMinor: number
  readonly allocations: ReadonlyArray<Allocation>
  readonly unallocatedMinor: number
  readonly refundedMinor: number
  readonly issuedAt: string | null
  readonly createdBy: string | null
  readonly createdAt: string
  readonly updatedAt: string
  readonly sequence: number
}

/** A null column is an absent field. */
export const toCreditNote = ({ sequence: _, creditNoteNumber, createdBy, issuedAt, ...note }: CreditNoteRow) => ({
  ...note,
  ...(creditNoteNumber === null ? {} : { creditNoteNumber }),
  ...(issuedAt === null ? {} : { issuedAt }),
  ...(createdBy === null ? {} : { createdBy })
})

/** The columns of a finalized note without a field. */
export interface IssueColumns {
  readonly period: string
  readonly place: number
  /** JSON. */
  readonly creditedBefore: string
}

/** The values of `noteUpdateText`. */
export const toNoteValues = (
  { subject, tenant }: Caller,
  note: CreditNoteRow,
  { creditedBefore, period, place }: IssueColumns,
  data: object
) => {
  const { client, createdAt, createdBy, creditNoteNumber, currencyCode, full, id, invoice, issuedAt } = note
  const { reason, sequence, status, updatedAt } = note
  const { discountMinor, refundedMinor, subtotalMinor, taxMinor, totalMinor, unallocatedMinor } = note
  return [
    ...[id, invoice, client, status, creditNoteNumber, currencyCode, reason, full],
    ...[JSON.stringify(note.lines), subtotalMinor, discountMinor, JSON.stringify(note.taxes), taxMinor, totalMinor],
    ...[JSON.stringify(note.allocations), unallocatedMinor, refundedMinor, issuedAt, createdBy, createdAt, updatedAt],
    ...[period, place, creditedBefore, sequence],
    ...[tenant, id, sequence - 1],
    ...[tenant, newId("evt"), "credit_note.finalized", id, client, sequence, updatedAt, subject, JSON.stringify(data)]
  ]
}

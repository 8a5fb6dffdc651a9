/** An invoice row with the sequence of its last event. */
export interface InvoiceRow {
  readonly id: string
  readonly contract: string
  readonly status: string
  readonly invoiceNumber: string | null
  readonly currencyCode: string
  readonly subtotalMinor: number
  readonly discountMinor: number
  readonly taxes: ReadonlyArray<object>
  readonly taxMinor: number
  readonly totalMinor: number
  readonly paidMinor: number
  readonly creditedMinor: number
  readonly writtenOffMinor: number
  readonly balanceMinor: number
  readonly billableCount: number
  readonly issuedAt: string | null
  readonly dueAt: string | null
  readonly paidAt: string | null
  readonly discount: object | null
  readonly discountReason: string | null
  readonly createdAt: string
  readonly updatedAt: string
  readonly sequence: number
}

/** A null column is an absent field. */
export const toInvoice = (row: InvoiceRow) => ({
  id: row.id,
  contract: row.contract,
  status: row.status,
  ...(row.invoiceNumber === null ? {} : { invoiceNumber: row.invoiceNumber }),
  currencyCode: row.currencyCode,
  subtotalMinor: row.subtotalMinor,
  discountMinor: row.discountMinor,
  taxes: row.taxes,
  taxMinor: row.taxMinor,
  totalMinor: row.totalMinor,
  paidMinor: row.paidMinor,
  creditedMinor: row.creditedMinor,
  writtenOffMinor: row.writtenOffMinor,
  balanceMinor: row.balanceMinor,
  billableCount: row.billableCount,
  ...(row.issuedAt === null ? {} : { issuedAt: row.issuedAt }),
  ...(row.dueAt === null ? {} : { dueAt: row.dueAt }),
  ...(row.discount === null ? {} : { discount: row.discount }),
  ...(row.discountReason === null ? {} : { discountReason: row.discountReason }),
  ...(row.paidAt === null ? {} : { paidAt: row.paidAt }),
  createdAt: row.createdAt,
  updatedAt: row.updatedAt
})

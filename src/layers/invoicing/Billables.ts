import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { type ErrorDetail, requireNoErrors } from "../../domain/Errors.ts"
import {
  Billable,
  type CreateBillables,
  hasTotal,
  lineErrors,
  type PatchBillable,
  patchLine,
  referencePairErrors,
  toLine
} from "../../domain/invoicing/Billable.ts"
import type { TaxSet } from "../../domain/invoicing/draft/TaxSets.ts"
import type { PageRequest } from "../../domain/Paging.ts"
import { type TaxRate, taxReferenceErrors } from "../../domain/taxes/TaxRate.ts"
import { inTransaction } from "../infra/postgres/connection/Transactions.ts"
import { makeResource } from "../infra/postgres/repository/Resource.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"
import { BillingReferences } from "./BillingReferences.ts"
import { InvoiceDrafts } from "./InvoiceDrafts.ts"

type Line = ReturnType<typeof toLine>
type Rates = ReadonlyMap<string, TaxRate>

const added = ({ lineTotalMinor, taxRates }: Pick<Billable, "lineTotalMinor" | "taxRates">): TaxSet => ({
  taxRates,
  netMinor: lineTotalMinor,
  lineCount: 1
})
const removed = ({ lineTotalMinor, taxRates }: Pick<Billable, "lineTotalMinor" | "taxRates">): TaxSet => ({
  taxRates,
  netMinor: -lineTotalMinor,
  lineCount: -1
})

interface Filter {
  readonly invoiceId?: string | undefined
  readonly referenceType?: string | undefined
  readonly referenceId?: string | undefined
}

/** Repository of the lines of invoices. Every change updates the totals of the invoice in the same transaction. */
export class Billables extends Effect.Service<Billables>()("layers/Billables", {
  dependencies: [InvoiceDrafts.Default, BillingReferences.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const drafts = yield* InvoiceDrafts
    const references = yield* BillingReferences
    const billables = yield* makeResource({
      name: "billable",
      table: "billables",
      entity: Billable,
      relations: ["invoice"],
      clientOf: ({ invoice }, tenant) => sql`(
        select contracts.client_id from invoices join contracts
          on contracts.tenant_id = invoices.tenant_id and contracts.id = invoices.contract_id
        where invoices.tenant_id = ${tenant} and invoices.id = ${invoice})`
    })

    /** All errors of all lines. Each field starts with the index of its line in the request. */
    const validateLines = (
      lines: ReadonlyArray<Line>,
      currencyCode: string,
      rates: Rates
    ): ReadonlyArray<ErrorDetail> =>
      lines.flatMap((fields, index) =>
        [...lineErrors(fields, currencyCode), ...taxReferenceErrors(fields.taxRates, rates, "taxRateIds")].map(
          (error) => ({ ...error, field: `billables[${index}].${error.field}` })
        )
      )

    const create = Effect.fnUntraced(function* ({ billables: given, invoiceId }: typeof CreateBillables.Type) {
      const locked = yield* drafts.lock(invoiceId)
      const { contract, invoice } = locked
      const lines = given.map((line) => toLine(invoice.value, line, contract.defaultTaxRates ?? []))
      const rates = yield* drafts.findRates(
        locked,
        lines.flatMap(({ taxRates }) => taxRates)
      )
      yield* requireNoErrors([
        ...validateLines(lines, invoice.value.currencyCode, rates),
        ...(yield* references.findDuplicates(lines, (index) => `billables[${index}].referenceId`))
      ])
      const validLines = lines.filter(hasTotal)
      const { ctes, values } = yield* billables.buildBulkInsert(
        validLines,
        contract.client,
        "reference_type, reference_id, metadata ->> 'siteId'"
      )
      yield* drafts.update(locked, { lines: validLines.map(added), field: "billables", extraCtes: [ctes] }, rates)
      return values
    })

    /** Locks the draft invoice of a line, then the line, and reads the line again under the lock. */
    const lockLine = Effect.fnUntraced(function* (id: string) {
      const { value } = yield* billables.getVersion(id)
      const locked = yield* drafts.lock(value.invoice)
      return { locked, line: yield* billables.lockForWrite(id) }
    })

    const patch = Effect.fnUntraced(function* (id: string, change: typeof PatchBillable.Type) {
      const { line, locked } = yield* lockLine(id)
      const { value: before } = line
      const next = patchLine(before, change)
      const rates = yield* drafts.findRates(locked, next.taxRates)
      const isSameReference = next.referenceId === before.referenceId && next.referenceType === before.referenceType
      yield* requireNoErrors([
        ...lineErrors(next, before.currencyCode),
        ...taxReferenceErrors(next.taxRates, rates, "taxRateIds", before.taxRates),
        ...(isSameReference ? [] : yield* references.findDuplicates([next], () => "referenceId"))
      ])
      const { lineTotalMinor = 0 } = next
      const value = yield* billables.updateLocked(line, "updated", { ...next, lineTotalMinor })
      yield* drafts.update(locked, { lines: [added(value), removed(before)], field: "quantity" }, rates)
      return value
    })

    return {
      ...billables,

      /** One page of the lines of an invoice, of the line that bills an item, or of all lines. */
      list: (window: PageRequest, { invoiceId, referenceId, referenceType }: Filter) => {
        if (referenceId === undefined && referenceType === undefined)
          return billables.page(window, { invoice: invoiceId })
        return Effect.zipRight(
          requireNoErrors(referencePairErrors({ referenceId, referenceType })),
          billables.page(window, { invoice: invoiceId, referenceId, referenceType }, sql`not this.released`)
        )
      },

      /** Adds all lines to a draft, or none. */
      create: (body: typeof CreateBillables.Type) => create(body).pipe(inTransaction(sql), references.retryOnDuplicate),

      patch: (id: string, change: typeof PatchBillable.Type) =>
        patch(id, change).pipe(inTransaction(sql), references.retryOnDuplicate),

      remove: (id: string) =>
        Effect.gen(function* () {
          const { line, locked } = yield* lockLine(id)
          yield* billables.deleteLocked(line)
          const rates = yield* drafts.findRates(locked, [])
          yield* drafts.update(locked, { lines: [removed(line.value)], field: "id" }, rates)
        }).pipe(inTransaction(sql))
    }
  }).pipe(withSpans("Billables"))
}) {}

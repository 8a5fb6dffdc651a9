import * as SqlClient from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import { Effect } from "effect"
import { type ErrorDetail, requireNoErrors } from "../../domain/Errors.ts"
import { Billable, type CreateBillables, hasTotal, lineErrors, toLine } from "../../domain/invoicing/Billable.ts"
import { requireEditableInvoice } from "../../domain/invoicing/InvoiceStatus.ts"
import { type LineChange, totalsAfter } from "../../domain/invoicing/InvoiceTotals.ts"
import { lineTotal } from "../../domain/money/Money.ts"
import { applyPatch, type Patch } from "../../domain/Schemas.ts"
import { inTransaction } from "../postgres/connection/Transactions.ts"
import { makeResource } from "../postgres/repository/Resource.ts"
import { Quotas } from "../quotas/Quotas.ts"
import { withSpans } from "../telemetry/UseCaseSpans.ts"
import { BillingReferences } from "./BillingReferences.ts"
import { ContractCap, type LockedInvoice } from "./ContractCap.ts"
import { Invoices } from "./Invoices.ts"

type Line = ReturnType<typeof toLine>

/**
 * Repository of the lines of invoices. Every change updates the invoice's total and line count in the same transaction.
 */
export class Billables extends Effect.Service<Billables>()("layers/Billables", {
  dependencies: [Invoices.Default, ContractCap.Default, Quotas.Default, BillingReferences.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const invoices = yield* Invoices
    const contractCap = yield* ContractCap
    const references = yield* BillingReferences
    const maxLines = (yield* Quotas).maxOf("invoiceLines")
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

    /** Locks a contract and its draft invoice. Fails for an invoice that is no draft. */
    const lockDraft = Effect.fnUntraced(function* (id: string) {
      const locked = yield* contractCap.lockContractAndInvoice(id)
      yield* requireEditableInvoice(locked.invoice.value.status)
      return locked
    })

    /** Adds to the total and line count of an invoice. The cost does not depend on the number of existing lines. */
    const updateTotals = Effect.fnUntraced(function* (
      { contract, invoice }: LockedInvoice,
      change: LineChange,
      extraCtes: ReadonlyArray<Fragment> = []
    ) {
      const totals = yield* totalsAfter(invoice.value, change, maxLines)
      const billedUpdate = yield* contractCap.buildBilledUpdate(contract, change.amounts, change.field)
      const next = { ...invoice.value, ...totals }
      yield* invoices.updateLocked(invoice, "updated", next, {
        extraCtes: [...extraCtes, ...billedUpdate],
        commit: true
      })
    })

    /** All errors of all lines. Each field starts with the index of its line in the request. */
    const validateLines = (lines: ReadonlyArray<Line>, currencyCode: string): ReadonlyArray<ErrorDetail> =>
      lines.flatMap((fields, index) =>
        lineErrors(fields, currencyCode).map((error) => ({ ...error, field: `billables[${index}].${error.field}` }))
      )

    const create = Effect.fnUntraced(function* ({ billables: given, invoiceId }: typeof CreateBillables.Type) {
      const locked = yield* lockDraft(invoiceId)
      const { contract, invoice } = locked
      const lines = given.map((line) => toLine(invoice.value, line))
      yield* requireNoErrors([
        ...validateLines(lines, invoice.value.currencyCode),
        ...(yield* references.findDuplicates(lines, (index) => `billables[${index}].referenceId`))
      ])
      const validLines = lines.filter(hasTotal)
      const { ctes, values } = yield* billables.buildBulkInsert(
        validLines,
        contract.client,
        "reference_type, reference_id, metadata ->> 'siteId'"
      )
      const amounts = validLines.map(({ lineTotalMinor }) => lineTotalMinor)
      yield* updateTotals(locked, { amounts, lineDelta: validLines.length, field: "billables" }, [ctes])
      return values
    })

    /** Locks the draft invoice of a line, then the line, and reads the line again under the lock. */
    const lockLine = Effect.fnUntraced(function* (id: string) {
      const { value } = yield* billables.getVersion(id)
      const locked = yield* lockDraft(value.invoice)
      return { locked, line: yield* billables.lockForWrite(id) }
    })

    return {
      ...billables,

      /** Adds all lines to a draft, or none. */
      create: (body: typeof CreateBillables.Type) => create(body).pipe(inTransaction(sql), references.retryOnDuplicate),

      patch: (id: string, change: Patch<Billable>) =>
        Effect.gen(function* () {
          const { line, locked } = yield* lockLine(id)
          const fields = applyPatch(line.value, change)
          const next = { ...fields, lineTotalMinor: lineTotal(fields.quantity, fields.amountMinor) }
          const isSameReference =
            next.referenceId === line.value.referenceId && next.referenceType === line.value.referenceType
          yield* requireNoErrors([
            ...lineErrors(next, line.value.currencyCode),
            ...(isSameReference ? [] : yield* references.findDuplicates([next], () => "referenceId"))
          ])
          const { lineTotalMinor = 0 } = next
          const value = yield* billables.updateLocked(line, "updated", { ...next, lineTotalMinor })
          yield* updateTotals(locked, {
            amounts: [lineTotalMinor, -line.value.lineTotalMinor],
            lineDelta: 0,
            field: "quantity"
          })
          return value
        }).pipe(inTransaction(sql), references.retryOnDuplicate),

      remove: (id: string) =>
        Effect.gen(function* () {
          const { line, locked } = yield* lockLine(id)
          yield* billables.deleteLocked(line)
          yield* updateTotals(locked, { amounts: [-line.value.lineTotalMinor], lineDelta: -1, field: "id" })
        }).pipe(inTransaction(sql))
    }
  }).pipe(withSpans("Billables"))
}) {}

import * as SqlClient from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import { Effect } from "effect"
import { breaks, type Detail, invalid } from "../../domain/Errors.ts"
import { Billable, type CreateBillables, isTold, lineFaults, lineOn } from "../../domain/invoicing/Billable.ts"
import { mayEdit } from "../../domain/invoicing/InvoiceStatus.ts"
import { lineTotal, mostMinor, sum } from "../../domain/money/Money.ts"
import { requireQuota } from "../../domain/Quotas.ts"
import { type Change, patched } from "../../domain/Schemas.ts"
import { atomically } from "../postgres/connection/Transaction.ts"
import { resource } from "../postgres/repository/Resource.ts"
import { Quotas } from "../quotas/Quotas.ts"
import { ContractGuard, type Held } from "./ContractGuard.ts"
import { Invoices } from "./Invoices.ts"
import { References } from "./References.ts"

type Line = ReturnType<typeof lineOn>

/** A change of an invoice's total and line count. `field` names the request field in an error. */
interface TotalsChange {
  readonly amounts: ReadonlyArray<number>
  readonly lineDelta: number
  readonly field: string
  readonly extraCtes?: ReadonlyArray<Fragment>
}

/**
 * Repository of the lines of invoices. Every change updates the invoice's total and line count in the same transaction.
 */
export class Billables extends Effect.Service<Billables>()("layers/Billables", {
  dependencies: [Invoices.Default, ContractGuard.Default, Quotas.Default, References.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const invoices = yield* Invoices
    const contractCap = yield* ContractGuard
    const references = yield* References
    const maxLines = (yield* Quotas).maxOf("invoiceLines")
    const billables = yield* resource({
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
      const locked = yield* contractCap.hold(id)
      yield* mayEdit(locked.invoice.value.status)
      return locked
    })

    /** Adds to the total and line count of an invoice. The cost does not depend on the number of existing lines. */
    const updateTotals = Effect.fnUntraced(function* (
      { contract, invoice }: Held,
      { amounts, extraCtes = [], field, lineDelta }: TotalsChange
    ) {
      const { value } = invoice
      const total = sum(value.totalMinor, ...amounts)
      const billableCount = value.billableCount + lineDelta
      if (total === undefined) {
        return yield* Effect.fail(breaks(field, "max", `would take the total beyond ±${mostMinor}`))
      }
      yield* requireQuota("invoiceLines", { max: maxLines, used: value.billableCount, adding: lineDelta, field })
      const billedUpdate = yield* contractCap.billing(contract, amounts, field)
      const next = { ...value, subtotalMinor: total, totalMinor: total, billableCount }
      yield* invoices.rewrite(invoice, "updated", next, { besides: [...extraCtes, ...billedUpdate], isLast: true })
    })

    /** All errors of all lines. Each field starts with the index of its line in the request. */
    const validateLines = (lines: ReadonlyArray<Line>, currencyCode: string): ReadonlyArray<Detail> =>
      lines.flatMap((fields, index) =>
        lineFaults(fields, currencyCode).map((error) => ({ ...error, field: `billables[${index}].${error.field}` }))
      )

    const requireNone = (errors: ReadonlyArray<Detail>) =>
      errors.length === 0 ? Effect.void : Effect.fail(invalid(...errors))

    const create = Effect.fnUntraced(function* ({ billables: given, invoiceId }: typeof CreateBillables.Type) {
      const locked = yield* lockDraft(invoiceId)
      const { contract, invoice } = locked
      const lines = given.map((line) => lineOn(invoice.value, line))
      yield* requireNone([
        ...validateLines(lines, invoice.value.currencyCode),
        ...(yield* references.taken(lines, (index) => `billables[${index}].referenceId`))
      ])
      const validLines = lines.filter(isTold)
      const { part, values } = yield* billables.creatingMany(
        validLines,
        contract.client,
        "reference_type, reference_id, metadata ->> 'siteId'"
      )
      const amounts = validLines.map(({ lineTotalMinor }) => lineTotalMinor)
      yield* updateTotals(locked, {
        amounts,
        lineDelta: validLines.length,
        field: "billables",
        extraCtes: [part]
      })
      return values
    })

    /** Locks the draft invoice of a line, then the line, and reads the line again under the lock. */
    const lockLine = Effect.fnUntraced(function* (id: string) {
      const { value } = yield* billables.current(id)
      const locked = yield* lockDraft(value.invoice)
      return { locked, line: yield* billables.hold(id) }
    })

    return {
      ...billables,

      /** Adds all lines to a draft, or none. */
      create: (body: typeof CreateBillables.Type) => create(body).pipe(atomically(sql), references.onceMore),

      patch: (id: string, change: Change<Billable>) =>
        Effect.gen(function* () {
          const { line, locked } = yield* lockLine(id)
          const fields = patched(line.value, change)
          const next = { ...fields, lineTotalMinor: lineTotal(fields.quantity, fields.amountMinor) }
          const isSameReference =
            next.referenceId === line.value.referenceId && next.referenceType === line.value.referenceType
          yield* requireNone([
            ...lineFaults(next, line.value.currencyCode),
            ...(isSameReference ? [] : yield* references.taken([next], () => "referenceId"))
          ])
          const { lineTotalMinor = 0 } = next
          const value = yield* billables.rewrite(line, "updated", { ...next, lineTotalMinor })
          yield* updateTotals(locked, {
            amounts: [lineTotalMinor, -line.value.lineTotalMinor],
            lineDelta: 0,
            field: "quantity"
          })
          return value
        }).pipe(atomically(sql), references.onceMore),

      remove: (id: string) =>
        Effect.gen(function* () {
          const { line, locked } = yield* lockLine(id)
          yield* billables.discard(line)
          yield* updateTotals(locked, { amounts: [-line.value.lineTotalMinor], lineDelta: -1, field: "id" })
        }).pipe(atomically(sql))
    }
  })
}) {}

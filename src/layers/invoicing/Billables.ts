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

/** By what an invoice's total and number of lines change, which field is to blame for too much, and what goes along. */
interface Amendment {
  readonly by: ReadonlyArray<number>
  readonly lines: number
  readonly field: string
  readonly besides?: ReadonlyArray<Fragment>
}

/** The lines of invoices. What they come to and how many they are is kept with the invoice, in the same transaction. */
export class Billables extends Effect.Service<Billables>()("layers/Billables", {
  dependencies: [Invoices.Default, ContractGuard.Default, Quotas.Default, References.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const invoices = yield* Invoices
    const guard = yield* ContractGuard
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

    /** An invoice that can be edited, and its contract, both held. */
    const open = Effect.fnUntraced(function* (id: string) {
      const held = yield* guard.hold(id)
      yield* mayEdit(held.invoice.value.status)
      return held
    })

    /** Adds to what an invoice comes to and to how many lines it has. The cost knows nothing of the lines there are. */
    const amend = Effect.fnUntraced(function* (
      { contract, invoice }: Held,
      { besides = [], by, field, lines }: Amendment
    ) {
      const { value } = invoice
      const total = sum(value.totalMinor, ...by)
      const billableCount = value.billableCount + lines
      if (total === undefined) {
        return yield* Effect.fail(breaks(field, "max", `would take the total beyond ±${mostMinor}`))
      }
      yield* requireQuota("invoiceLines", { max: maxLines, used: value.billableCount, adding: lines, field })
      const billing = yield* guard.billing(contract, by, field)
      const next = { ...value, subtotalMinor: total, totalMinor: total, billableCount }
      yield* invoices.rewrite(invoice, "updated", next, { besides: [...besides, ...billing], isLast: true })
    })

    /** Every fault of every line, under the line's place in the request. */
    const faultsOf = (lines: ReadonlyArray<Line>, currencyCode: string): ReadonlyArray<Detail> =>
      lines.flatMap((fields, index) =>
        lineFaults(fields, currencyCode).map((fault) => ({ ...fault, field: `billables[${index}].${fault.field}` }))
      )

    const unless = (faults: ReadonlyArray<Detail>) =>
      faults.length === 0 ? Effect.void : Effect.fail(invalid(...faults))

    const create = Effect.fnUntraced(function* ({ billables: given, invoiceId }: typeof CreateBillables.Type) {
      const opened = yield* open(invoiceId)
      const { contract, invoice } = opened
      const lines = given.map((line) => lineOn(invoice.value, line))
      yield* unless([
        ...faultsOf(lines, invoice.value.currencyCode),
        ...(yield* references.taken(lines, (index) => `billables[${index}].referenceId`))
      ])
      const made = lines.filter(isTold)
      const { part, values } = yield* billables.creatingMany(
        made,
        contract.client,
        "reference_type, reference_id, metadata ->> 'siteId'"
      )
      const by = made.map(({ lineTotalMinor }) => lineTotalMinor)
      yield* amend(opened, { by, lines: made.length, field: "billables", besides: [part] })
      return values
    })

    /** The invoice a line is on, opened, and the line as it is then. */
    const openLine = Effect.fnUntraced(function* (id: string) {
      const { value } = yield* billables.current(id)
      const opened = yield* open(value.invoice)
      return { opened, seen: yield* billables.hold(id) }
    })

    return {
      ...billables,

      /** Adds lines to a draft: all of them or none. */
      create: (body: typeof CreateBillables.Type) => create(body).pipe(atomically(sql), references.onceMore),

      patch: (id: string, change: Change<Billable>) =>
        Effect.gen(function* () {
          const { opened, seen } = yield* openLine(id)
          const terms = patched(seen.value, change)
          const next = { ...terms, lineTotalMinor: lineTotal(terms.quantity, terms.amountMinor) }
          const others = next.referenceId === seen.value.referenceId && next.referenceType === seen.value.referenceType
          yield* unless([
            ...lineFaults(next, seen.value.currencyCode),
            ...(others ? [] : yield* references.taken([next], () => "referenceId"))
          ])
          const { lineTotalMinor = 0 } = next
          const value = yield* billables.rewrite(seen, "updated", { ...next, lineTotalMinor })
          yield* amend(opened, { by: [lineTotalMinor, -seen.value.lineTotalMinor], lines: 0, field: "quantity" })
          return value
        }).pipe(atomically(sql), references.onceMore),

      remove: (id: string) =>
        Effect.gen(function* () {
          const { opened, seen } = yield* openLine(id)
          yield* billables.discard(seen)
          yield* amend(opened, { by: [-seen.value.lineTotalMinor], lines: -1, field: "id" })
        }).pipe(atomically(sql))
    }
  })
}) {}

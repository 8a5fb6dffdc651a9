import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { breaks, type Detail, invalid } from "../../../domain/Errors.ts"
import { Billable, type CreateBillables, filledLine, lineFaults } from "../../../domain/invoicing/Billable.ts"
import { type Invoice, mostLines } from "../../../domain/invoicing/Invoice.ts"
import { mayEdit } from "../../../domain/invoicing/InvoiceStatus.ts"
import { lineTotal, mostMinor, sum } from "../../../domain/money/Money.ts"
import { type Change, patched } from "../../../domain/Schemas.ts"
import { atomically } from "../connection/Transaction.ts"
import { resource } from "../resource/Resource.ts"
import type { Versioned } from "../resource/ResourceSpec.ts"
import { ContractGuard, type HeldContract } from "./ContractGuard.ts"
import { Invoices } from "./Invoices.ts"
import { References } from "./References.ts"

type Line = ReturnType<typeof filledLine>

/** An invoice that can be edited, and its contract, both held. */
interface Open {
  readonly contract: HeldContract
  readonly invoice: Versioned<Invoice>
}

/** The lines of invoices. What they come to and how many they are is kept with the invoice, in the same transaction. */
export class Billables extends Effect.Service<Billables>()("layers/Billables", {
  dependencies: [Invoices.Default, ContractGuard.Default, References.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const invoices = yield* Invoices
    const guard = yield* ContractGuard
    const references = yield* References
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

    const open = Effect.fnUntraced(function* (id: string) {
      const contract = yield* guard.holdOf(id)
      const invoice = yield* invoices.held(id)
      yield* mayEdit(invoice.value.status)
      return { contract, invoice } satisfies Open
    })

    /** Adds to what an invoice comes to and to how many lines it has. The cost knows nothing of the lines there are. */
    const amend = Effect.fnUntraced(function* (
      { contract, invoice }: Open,
      { by, field, lines }: { readonly by: ReadonlyArray<number>; readonly lines: number; readonly field: string }
    ) {
      const { value } = invoice
      const total = sum(value.totalMinor, ...by)
      const billableCount = value.billableCount + lines
      if (total === undefined) {
        return yield* Effect.fail(breaks(field, "max", `would take the total beyond ±${mostMinor}`))
      }
      if (billableCount > mostLines) {
        return yield* Effect.fail(breaks(field, "maxItems", `would take the invoice beyond ${mostLines} lines`))
      }
      yield* guard.bill(contract, by, field)
      yield* invoices.rewrite(invoice, "updated", { ...value, subtotalMinor: total, totalMinor: total, billableCount })
    })

    const line = (invoice: Invoice, fields: Line) => ({
      ...fields,
      invoice: invoice.id,
      currencyCode: invoice.currencyCode,
      lineTotalMinor: lineTotal(fields.quantity, fields.amountMinor) ?? 0
    })

    /** Every fault of every line, under the line's place in the request. */
    const faultsOf = (lines: ReadonlyArray<Line>, currencyCode: string): ReadonlyArray<Detail> =>
      lines.flatMap((fields, index) =>
        lineFaults(fields, currencyCode).map((fault) => ({ ...fault, field: `billables[${index}].${fault.field}` }))
      )

    const unless = (faults: ReadonlyArray<Detail>) =>
      faults.length === 0 ? Effect.void : Effect.fail(invalid(...faults))

    const create = Effect.fnUntraced(function* ({ billables: given, invoiceId }: typeof CreateBillables.Type) {
      const lines = given.map(filledLine)
      const opened = yield* open(invoiceId)
      const { contract, invoice } = opened
      yield* unless([
        ...faultsOf(lines, invoice.value.currencyCode),
        ...(yield* references.taken(lines, (index) => `billables[${index}].referenceId`))
      ])
      const made = lines.map((fields) => line(invoice.value, fields))
      const values = yield* billables.createMany(made, contract.client, "reference_type, reference_id")
      const by = made.map(({ lineTotalMinor }) => lineTotalMinor)
      yield* amend(opened, { by, lines: made.length, field: "billables" })
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
      create: (body: typeof CreateBillables.Type) =>
        create(body).pipe(
          Effect.catchTag("NotFound", () => Effect.fail(breaks("invoiceId", "exists", "names nothing in this tenant"))),
          atomically(sql),
          references.onceMore
        ),

      patch: (id: string, change: Change<Billable>) =>
        Effect.gen(function* () {
          const { opened, seen } = yield* openLine(id)
          const next = patched(seen.value, change)
          const others = next.referenceId === seen.value.referenceId && next.referenceType === seen.value.referenceType
          yield* unless([
            ...lineFaults(next, seen.value.currencyCode),
            ...(others ? [] : yield* references.taken([next], () => "referenceId"))
          ])
          const lineTotalMinor = lineTotal(next.quantity, next.amountMinor) ?? 0
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

import { Effect } from "effect"
import { type EInvoiceSyntax, requireIssued } from "../../../domain/eInvoice/EInvoiceCheck.ts"
import { withSpans } from "../../infra/telemetry/UseCaseSpans.ts"
import { Invoices } from "../Invoices.ts"
import { EInvoiceWriter } from "./EInvoiceWriter.ts"
import { InvoiceDetails } from "./InvoicePdfs.ts"

/** E-invoices of invoices. The content of an issued invoice never changes, and so neither does its XML. */
export class InvoiceEInvoices extends Effect.Service<InvoiceEInvoices>()("layers/InvoiceEInvoices", {
  dependencies: [Invoices.Default, InvoiceDetails.Default, EInvoiceWriter.Default],
  effect: Effect.gen(function* () {
    const invoices = yield* Invoices
    const details = yield* InvoiceDetails
    const writer = yield* EInvoiceWriter

    const prepare = (id: string, keys: ReadonlyArray<string>) =>
      Effect.map(invoices.get(id), (invoice) => ({
        invoice,
        request: { keys, lineCount: invoice.billableCount, load: details.get(id) }
      }))

    return {
      check: (id: string, keys: ReadonlyArray<string>) =>
        Effect.flatMap(prepare(id, keys), ({ request }) => writer.check(request)),

      xml: Effect.fnUntraced(function* (id: string, syntax: EInvoiceSyntax, keys: ReadonlyArray<string>) {
        const { invoice, request } = yield* prepare(id, keys)
        yield* requireIssued(invoice)
        return { invoice, xml: yield* writer.xml(request, syntax) }
      })
    }
  }).pipe(withSpans("InvoiceEInvoices"))
}) {}
